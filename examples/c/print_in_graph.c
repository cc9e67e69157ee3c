/* Printing while tracing, and printing in the graph. Ordinary print calls in a function run only
 * while it is traced, and can show a tensor's name but not its values. tenon_print() becomes
 * part of the trace and prints values in each call. */

#include "examples/c/must.h"

/* y = A x + b */
static tenon_error* affine(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                           size_t n_inputs, const tenon_static* statics, size_t n_statics,
                           tenon_tensor** out_outputs, size_t max_outputs) {
  const float a_values[] = {10, 10, 11, 1};
  tenon_variable* b = payload;
  tenon_tensor *a = f32_matrix(scope, a_values, 2, 2), *product = NULL, *b_value = NULL;
  (void)n_inputs, (void)statics, (void)n_statics, (void)max_outputs;

  must(tenon_matmul(scope, a, inputs[0], NULL, &product));
  must(tenon_variable_read(scope, b, &b_value));
  must(tenon_add(scope, product, b_value, &out_outputs[0]));
  show(scope, "at tracing: ", out_outputs[0]);
  must(tenon_print(scope, tenon_str("in the graph:\n{}"), out_outputs, 1, NULL));

  tenon_tensor_release(b_value);
  tenon_tensor_release(product);
  tenon_tensor_release(a);
  return NULL;
}

int main(void) {
  const float x_values[] = {1, 0, 0, 1};
  tenon_function_body body = {affine, NULL, NULL};
  tenon_context* context = NULL;
  tenon_variable* b = NULL;
  tenon_function* f = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  tenon_tensor* twelve = f32_number(scope, 12);
  tenon_tensor* x = f32_matrix(scope, x_values, 2, 2);
  must(tenon_variable_create(scope, twelve, NULL, &b));
  body.payload = b;
  must(tenon_function_create(context, tenon_str("affine"), body, NULL, &f));

  for (int call = 1; call <= 2; ++call) {
    tenon_tensor* y = NULL;
    printf("call %d\n", call);
    must(tenon_function_call(scope, f, &x, 1, NULL, 0, &y, 1, NULL));
    tenon_tensor_release(y);
  }

  tenon_function_release(f);
  tenon_variable_release(b);
  tenon_tensor_release(x);
  tenon_tensor_release(twelve);
  tenon_context_release(context);
  return 0;
}
