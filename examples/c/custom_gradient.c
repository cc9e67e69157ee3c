/* A square with a custom gradient: x + y instead of 2 x. */

#include "examples/c/must.h"

static tenon_error* square(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                           size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload, (void)n_inputs, (void)n_outputs;
  return tenon_square(scope, inputs[0], &out_outputs[0]);
}

static tenon_error* x_plus_y(void* payload, tenon_scope* scope, const tenon_backward_args* args,
                             tenon_tensor** out_grads, size_t n_grads) {
  (void)payload, (void)n_grads;
  return tenon_add(scope, args->inputs[0], args->outputs[0], &out_grads[0]);
}

int main(void) {
  const tenon_tensor_function forward = {square, NULL, NULL};
  const tenon_backward_function backward = {x_plus_y, NULL, NULL};
  tenon_context* context = NULL;
  tenon_tape* tape = NULL;
  tenon_tensor *y = NULL, *gradient = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  tenon_tensor* x = f32_number(scope, 3);
  tenon_value* source = tenon_tensor_as_value(x);

  must(tenon_tape_create(scope, NULL, &tape));
  must(tenon_tape_watch(tape, source));
  must(tenon_custom_gradient(scope, forward, &x, 1, backward, &y, 1));
  must(tenon_tape_gradient(scope, tape, &y, 1, NULL, &source, 1, NULL, &gradient));
  show(scope, "f(3): ", y);
  show(scope, "gradient: ", gradient);

  tenon_tape_release(tape);
  tenon_tensor_release(gradient);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
  tenon_context_release(context);
  return 0;
}
