#include "capi/tests/check.h"

static void an_error_has_a_code_and_a_message(void) {
  tenon_error* error = tenon_error_create(TENON_NOT_FOUND, tenon_str("no such thing"));

  CHECK(tenon_error_code(error) == TENON_NOT_FOUND);
  CHECK_TEXT(tenon_error_message(error), "no such thing");
  CHECK_TEXT(tenon_error_op(error), "");
  CHECK_TEXT(tenon_error_argument(error), "");
  CHECK_TEXT(tenon_error_device(error), "");
  CHECK_TEXT(tenon_error_location(error), "");
  CHECK(tenon_error_cause(error) == NULL);

  tenon_error_retain(error);
  tenon_error_release(error);
  CHECK_TEXT(tenon_error_message(error), "no such thing");
  tenon_error_release(error);
}

static void a_null_error_means_success(void) {
  tenon_error_retain(NULL);
  tenon_error_release(NULL);
  CHECK(tenon_error_code(NULL) == TENON_OK);
  CHECK_TEXT(tenon_error_message(NULL), "");
  CHECK_TEXT(tenon_error_op(NULL), "");
  CHECK_TEXT(tenon_error_argument(NULL), "");
  CHECK_TEXT(tenon_error_device(NULL), "");
  CHECK_TEXT(tenon_error_location(NULL), "");
  CHECK(tenon_error_cause(NULL) == NULL);
}

static void unknown_error_codes_become_internal(void) {
  tenon_error* error = tenon_error_create(12345, tenon_str("?"));
  CHECK(tenon_error_code(error) == TENON_INTERNAL);
  tenon_error_release(error);
  CHECK_TEXT(tenon_code_name(12345), "INTERNAL");
  CHECK_TEXT(tenon_code_name(TENON_OK), "OK");
  CHECK_TEXT(tenon_code_name(TENON_INVALID_ARGUMENT), "INVALID_ARGUMENT");
}

static void an_error_names_the_op_the_rule_and_the_source_line(void) {
  tenon_softmax_attrs attrs = TENON_SOFTMAX_ATTRS_DEFAULT;
  tenon_tensor* x = make_f32_matrix(2, 3, (const float[]){1, 2, 3, 4, 5, 6});
  tenon_tensor* y = GARBAGE(tenon_tensor);
  tenon_error* error;
  attrs.axis = 2;

  CHECK_OK(tenon_scope_set_location(scope(), tenon_str("train.py:12")));
  error = tenon_softmax(scope(), x, &attrs, &y);

  CHECK(tenon_error_code(error) == TENON_INVALID_ARGUMENT);
  CHECK_TEXT(tenon_error_message(error), "softmax: C2: axis 2 is outside [-2, 2) for x: f32[2,3]");
  CHECK_TEXT(tenon_error_op(error), "softmax");
  CHECK_TEXT(tenon_error_location(error), "train.py:12");
  CHECK(y == NULL);
  tenon_error_release(error);
  tenon_tensor_release(x);
}

static void an_error_names_the_invalid_argument(void) {
  tenon_tensor* out = GARBAGE(tenon_tensor);
  tenon_error* error = tenon_variable_read(scope(), NULL, &out);

  CHECK_TEXT(tenon_error_message(error), "variable is NULL");
  CHECK_TEXT(tenon_error_argument(error), "variable");
  CHECK(out == NULL);
  tenon_error_release(error);
}

int main(void) {
  RUN(an_error_has_a_code_and_a_message);
  RUN(a_null_error_means_success);
  RUN(unknown_error_codes_become_internal);
  RUN(an_error_names_the_op_the_rule_and_the_source_line);
  RUN(an_error_names_the_invalid_argument);
  return report();
}
