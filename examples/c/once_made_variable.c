/* A function may create variables only in its first call. Code that creates a variable in every
 * call fails in the first call, because each trace would contain another variable. */

#include "examples/c/eager_and_traced.h"

/* Creates a variable in every call. */
CODE(wrong) {
  const tenon_variable_options options = {sizeof options, true, TENON_STR("b")};
  tenon_tensor *twelve = f32_number(scope, 12), *value = NULL;
  tenon_variable* b = NULL;
  (void)payload, (void)n_in, (void)statics, (void)n_statics, (void)max_out;
  must(tenon_variable_create(scope, twelve, &options, &b));
  must(tenon_variable_read(scope, b, &value));
  tenon_error* error = tenon_add(scope, in[0], value, &out[0]);
  tenon_tensor_release(twelve);
  tenon_tensor_release(value);
  tenon_variable_release(b);
  return error;
}

/* Creates the variable if it does not exist yet. */
CODE(right) {
  const tenon_variable_options options = {sizeof options, true, TENON_STR("b")};
  tenon_variable** b = payload;
  tenon_tensor* value = NULL;
  (void)n_in, (void)statics, (void)n_statics, (void)max_out;
  if (!*b) {
    tenon_tensor* twelve = f32_number(scope, 12);
    must(tenon_variable_create(scope, twelve, &options, b));
    tenon_tensor_release(twelve);
  }
  must(tenon_variable_read(scope, *b, &value));
  tenon_error* error = tenon_add(scope, in[0], value, &out[0]);
  tenon_tensor_release(value);
  return error;
}

static void example(tenon_scope* scope) {
  tenon_variable* b = NULL;
  const tenon_function_body wrong_body = {wrong, NULL, NULL}, right_body = {right, &b, NULL};
  tenon_function *f = function_of(scope, wrong_body, NULL),
                 *g = function_of(scope, right_body, NULL);
  tenon_tensor *x = f32_number(scope, 1), *y = NULL, *hundred = f32_number(scope, 100);

  tenon_error* error = tenon_function_call(scope, f, &x, 1, NULL, 0, &y, 1, NULL);
  if (error) {
    printf("made at every call: %s\n", tenon_error_message(error).data);
    tenon_error_release(error);
  } else {
    show_last(scope, "made at every call: ", y);
  }
  show_last(scope, "made once: ", call(scope, g, &x, 1));
  must(tenon_variable_assign(scope, b, hundred));
  show_last(scope, "and assigned: ", call(scope, g, &x, 1));

  tenon_tensor_release(hundred);
  tenon_tensor_release(x);
  tenon_variable_release(b);
  tenon_function_release(f);
  tenon_function_release(g);
}

int main(void) { return run_eager_and_traced(example); }
