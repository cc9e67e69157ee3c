/* Shows when a function is traced: once for each dtype and each value of a static argument, but not
 * for each value of a tensor or scalar. If functions run eagerly, the code runs in every call. */

#include "examples/c/eager_and_traced.h"

/* Multiplies in[0] by the static argument, if there is one. */
CODE(scaled) {
  tenon_string text = {NULL, 0};
  tenon_tensor* factor = tenon_scalar_i64(n_statics > 0 ? statics[0].int_value : 1);
  (void)payload, (void)n_in, (void)max_out;
  must(tenon_tensor_format(scope, in[0], NULL, &text));
  printf("  the code runs for %s\n", text.data);
  tenon_string_release(text);
  tenon_error* error = tenon_mul(scope, in[0], factor, &out[0]);
  tenon_tensor_release(factor);
  return error;
}

/* Calls the function, and releases the tensor x. */
static void call_with(tenon_scope* scope, tenon_function* f, tenon_tensor* x, int64_t factor) {
  tenon_static value = {0};
  tenon_tensor* y = NULL;
  value.kind = TENON_STATIC_INT;
  value.name = tenon_str("factor");
  value.int_value = factor;
  must(tenon_function_call(scope, f, &x, 1, &value, factor ? 1 : 0, &y, 1, NULL));
  show_last(scope, "gives ", y);
  tenon_tensor_release(x);
}

static tenon_tensor* u8_number(tenon_scope* scope, uint8_t value) {
  tenon_tensor* x = NULL;
  must(tenon_tensor_from_data(scope, TENON_UINT8, NULL, 0, &value, 1, &x));
  return x;
}

static void example(tenon_scope* scope) {
  const tenon_function_body body = {scaled, NULL, NULL};
  tenon_function* f = function_of(scope, body, NULL);
  printf("float32\n");
  call_with(scope, f, f32_number(scope, 1), 0);
  call_with(scope, f, f32_number(scope, 1.5f), 0);
  printf("uint8\n");
  call_with(scope, f, u8_number(scope, 2), 0);
  call_with(scope, f, u8_number(scope, 3), 0);
  printf("numbers as inputs\n");
  call_with(scope, f, tenon_scalar_i64(4), 0);
  call_with(scope, f, tenon_scalar_i64(5), 0);
  printf("numbers as static arguments\n");
  call_with(scope, f, tenon_scalar_i64(6), 10);
  call_with(scope, f, tenon_scalar_i64(7), 20);
  call_with(scope, f, tenon_scalar_i64(8), 10);
  printf("traces: %zu\n", tenon_function_count_traces(f));
  tenon_function_release(f);
}

int main(void) { return run_eager_and_traced(example); }
