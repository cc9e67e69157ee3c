/* A host callback inside a function: ordinary C within traced code, whose control flow depends
 * on values. Gradients pass through it. */

#include "examples/c/must.h"

/* Halves x until it is below one. */
static tenon_error* halve(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                          size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  int times = 0;
  tenon_tensor *x = inputs[0], *half = tenon_scalar_f64(0.5);
  (void)payload, (void)n_inputs, (void)n_outputs;

  tenon_tensor_retain(x);
  for (; number(scope, x) >= 1; ++times) {
    tenon_tensor* next = NULL;
    must(tenon_mul(scope, x, half, &next));
    tenon_tensor_release(x);
    x = next;
  }
  printf("halved %d times\n", times);
  tenon_tensor_release(half);
  out_outputs[0] = x;
  return NULL;
}

/* Computes the square, halves it until it is below one (in the host callback), and multiplies it by
 * three. */
static tenon_error* code(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                         size_t n_inputs, const tenon_static* statics, size_t n_statics,
                         tenon_tensor** out_outputs, size_t max_outputs) {
  const tenon_tensor_function callback = {halve, NULL, NULL};
  tenon_tensor *square = NULL, *halved = NULL, *three = tenon_scalar_f64(3);
  (void)payload, (void)n_inputs, (void)statics, (void)n_statics, (void)max_outputs;

  printf("tracing\n");
  must(tenon_mul(scope, inputs[0], inputs[0], &square));
  must(tenon_host_call(scope, callback, &square, 1, &square, &halved, 1));
  must(tenon_mul(scope, halved, three, &out_outputs[0]));

  tenon_tensor_release(square);
  tenon_tensor_release(halved);
  tenon_tensor_release(three);
  return NULL;
}

int main(void) {
  const tenon_function_body body = {code, NULL, NULL};
  const float values[] = {0.5f, 3, 10};
  tenon_context* context = NULL;
  tenon_function* f = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  must(tenon_function_create(context, tenon_str("code"), body, NULL, &f));

  for (int i = 0; i < 3; ++i) {
    tenon_tensor *x = f32_number(scope, values[i]), *y = NULL, *slope = NULL;
    tenon_value* source = (tenon_value*)x;
    tenon_tape* tape = NULL;
    must(tenon_tape_create(scope, NULL, &tape));
    must(tenon_tape_watch(tape, source));
    must(tenon_function_call(scope, f, &x, 1, NULL, 0, &y, 1, NULL));
    must(tenon_tape_gradient(scope, tape, &y, 1, NULL, &source, 1, NULL, &slope));
    show(scope, "value: ", y);
    show(scope, "slope: ", slope);
    tenon_tape_release(tape);
    tenon_tensor_release(slope);
    tenon_tensor_release(y);
    tenon_tensor_release(x);
  }

  tenon_function_release(f);
  tenon_context_release(context);
  return 0;
}
