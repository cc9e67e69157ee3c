/* An identity with a clipped gradient: a cotangent whose norm exceeds a maximum is scaled down to
 * it, which keeps training from diverging. */

#include "examples/c/must.h"

static tenon_error* identity(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                             size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload, (void)n_inputs, (void)n_outputs;
  return tenon_identity(scope, inputs[0], &out_outputs[0]);
}

/* Multiplies the cotangent by min(1, most / norm): `most`, the payload, is the maximum norm, and
 * `norm` is the norm of the cotangent. */
static tenon_error* clip_by_norm(void* payload, tenon_scope* scope, const tenon_backward_args* args,
                                 tenon_tensor** out_grads, size_t n_grads) {
  tenon_tensor* most = payload;
  tenon_tensor *norm = NULL, *longer = NULL, *scale = NULL;
  (void)n_grads;
  must(tenon_l2_norm(scope, args->cotangents[0], NULL, &norm));
  must(tenon_maximum(scope, norm, most, &longer));
  must(tenon_div(scope, most, longer, &scale));
  tenon_error* error = tenon_mul(scope, args->cotangents[0], scale, &out_grads[0]);
  tenon_tensor_release(scale);
  tenon_tensor_release(longer);
  tenon_tensor_release(norm);
  return error;
}

/* The gradient of sum(weights * clip(x)) with respect to x. Without clipping it would equal the
 * weights. */
static tenon_tensor* gradient(tenon_scope* scope, const float* weights, tenon_tensor* most) {
  const float values[] = {1, 2};
  const tenon_tensor_function forward = {identity, NULL, NULL};
  const tenon_backward_function backward = {clip_by_norm, most, NULL};
  tenon_tensor* x = f32_vector(scope, values, 2);
  tenon_tensor* w = f32_vector(scope, weights, 2);
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape* tape = NULL;
  tenon_tensor *clipped = NULL, *y = NULL, *result = NULL;

  must(tenon_tape_create(scope, NULL, &tape));
  must(tenon_tape_watch(tape, source));
  must(tenon_custom_gradient(scope, forward, &x, 1, backward, &clipped, 1));
  must(tenon_mul(scope, w, clipped, &y));
  must(tenon_tape_gradient(scope, tape, &y, 1, NULL, &source, 1, NULL, &result));

  tenon_tape_release(tape);
  tenon_tensor_release(y);
  tenon_tensor_release(clipped);
  tenon_tensor_release(w);
  tenon_tensor_release(x);
  return result;
}

int main(void) {
  const float large[] = {30, 40};
  const float small[] = {0.25f, 0.5f};
  tenon_context* context = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  tenon_tensor* most = f32_number(scope, 5);
  tenon_tensor* shortened = gradient(scope, large, most);
  tenon_tensor* kept = gradient(scope, small, most);
  show(scope, "of norm 50, clipped to 5: ", shortened);
  show(scope, "of a norm below 5: ", kept);

  tenon_tensor_release(shortened);
  tenon_tensor_release(kept);
  tenon_tensor_release(most);
  tenon_context_release(context);
  return 0;
}
