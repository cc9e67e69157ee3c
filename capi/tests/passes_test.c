#include "capi/tests/function_code.h"

static void passes_have_names_and_summaries(void) {
  const size_t n = tenon_count_passes();
  CHECK(n >= 5);
  for (size_t i = 0; i < n; ++i) {
    CHECK(tenon_pass_name(i).size > 0);
    CHECK(tenon_pass_summary(i).size > 0);
  }
  CHECK(tenon_pass_name(n).size == 0);
  CHECK(tenon_pass_summary(n).size == 0);
}

/* A body that gathers with an index out of range. The result is unused, so passes may remove the
 * call. */
static tenon_error* unused_gather(struct code* code, tenon_scope* inner,
                                  tenon_tensor* const* inputs, tenon_tensor** out) {
  tenon_tensor* unused = NULL;
  tenon_error* error = tenon_gather(inner, inputs[0], inputs[1], NULL, &unused);
  (void)code;
  tenon_tensor_release(unused);
  return error ? error : tenon_neg(inner, inputs[0], out);
}

/* Returns the error of the call or, on an asynchronous device, the error of a wait. */
static tenon_error* error_of_call_or_wait(tenon_error* error, tenon_tensor** y) {
  if (!error) error = tenon_scope_wait(scope());
  tenon_tensor_release(*y);
  *y = NULL;
  return error;
}

static void dce_eliminates_dead_calls(void) {
  struct code code = {.run = unused_gather};
  const int64_t far[1] = {7}, one[1] = {1};
  tenon_tensor *inputs[2] = {F32(1, 2), NULL}, *y = NULL;
  tenon_function* f = function_of(&code, NULL);
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_INT64, one, 1, far, sizeof far, &inputs[1]));

  CHECK_ERROR(error_of_call_or_wait(unused_gather(&code, scope(), inputs, &y), &y),
              TENON_OUT_OF_RANGE, "gather");
  for (int call = 0; call < 4; ++call) {
    CHECK_OK(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL));
    CHECK_VALUES(y, -1, -2);
    tenon_tensor_release(y);
  }
  tenon_function_release(f);

  CHECK_OK(tenon_context_set_pass(context(), tenon_str("dce"), false));
  f = function_of(&code, NULL);
  for (int call = 0; call < 4; ++call) {
    CHECK_ERROR(
        error_of_call_or_wait(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL), &y),
        TENON_OUT_OF_RANGE, "gather");
  }
  CHECK_OK(tenon_context_set_pass(context(), tenon_str("dce"), true));
  tenon_function_release(f);
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
}

static tenon_error* twice_the_same(struct code* code, tenon_scope* inner,
                                   tenon_tensor* const* inputs, tenon_tensor** out) {
  tenon_tensor *a = NULL, *b = NULL;
  tenon_error* error = tenon_exp(inner, inputs[0], &a);
  (void)code;
  if (!error) error = tenon_exp(inner, inputs[0], &b);
  if (!error) error = tenon_sub(inner, a, b, out);
  tenon_tensor_release(a);
  tenon_tensor_release(b);
  return error;
}

static void disabling_one_pass_preserves_results(void) {
  struct code code = {.run = twice_the_same};
  tenon_tensor *x = F32(1, -2, 3), *y = NULL;
  for (size_t pass = 0; pass < tenon_count_passes(); ++pass) {
    tenon_function* f = function_of(&code, NULL);
    CHECK_OK(tenon_context_set_pass(context(), tenon_pass_name(pass), false));
    for (int call = 0; call < 3; ++call) {
      CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
      CHECK_VALUES(y, 0, 0, 0);
      tenon_tensor_release(y);
    }
    CHECK_OK(tenon_context_set_pass(context(), tenon_pass_name(pass), true));
    tenon_function_release(f);
  }
  tenon_tensor_release(x);
}

static void invalid_pass_calls_are_errors(void) {
  CHECK_ERROR(tenon_context_set_pass(NULL, tenon_str("dce"), true), TENON_INVALID_ARGUMENT,
              "context");
  CHECK_ERROR(tenon_context_set_pass(context(), tenon_str("dorp"), true), TENON_NOT_FOUND,
              "there is no pass dorp; there are verify, select, simplify, fold, cse, dce, fuse");
}

int main(void) {
  RUN(passes_have_names_and_summaries);
  RUN(dce_eliminates_dead_calls);
  RUN(disabling_one_pass_preserves_results);
  RUN(invalid_pass_calls_are_errors);
  return report();
}
