/* A square, its gradient, and the gradient of its gradient. */

#include "examples/c/must.h"

static tenon_error* square(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                           size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload, (void)n_inputs, (void)n_outputs;
  return tenon_mul(scope, inputs[0], inputs[0], &out_outputs[0]);
}

/* Returns the gradient of the square as its output, so that it can be differentiated as well. */
static tenon_error* square_gradient(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                                    size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  const tenon_tensor_function function = {square, NULL, NULL};
  tenon_tensor* value = NULL;
  (void)payload, (void)n_outputs;
  tenon_error* error =
      tenon_gradients(scope, function, inputs, n_inputs, NULL, &value, 1, out_outputs, NULL);
  tenon_tensor_release(value);
  return error;
}

int main(void) {
  const tenon_tensor_function f = {square, NULL, NULL};
  const tenon_tensor_function df = {square_gradient, NULL, NULL};
  tenon_context* context = NULL;
  tenon_tensor *value = NULL, *first = NULL, *again = NULL, *second = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  tenon_tensor* x = f32_number(scope, 3);

  must(tenon_gradients(scope, f, &x, 1, NULL, &value, 1, &first, NULL));
  must(tenon_gradients(scope, df, &x, 1, NULL, &again, 1, &second, NULL));
  show(scope, "square(3): ", value);
  show(scope, "gradient: ", first);
  show(scope, "gradient of the gradient: ", second);

  tenon_tensor_release(value);
  tenon_tensor_release(first);
  tenon_tensor_release(again);
  tenon_tensor_release(second);
  tenon_tensor_release(x);
  tenon_context_release(context);
  return 0;
}
