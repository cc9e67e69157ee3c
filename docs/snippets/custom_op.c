/* docs/adding_an_op.md: a custom op that a program defines by a decomposition and that is
 * differentiated automatically. gate(x) = x * tanh(softplus(x)). */

#include "docs/snippets/snippet.h"

static tenon_error* gate_types(void* payload, const void* attrs, const tenon_type* inputs,
                               size_t n_inputs, tenon_type* out_types, size_t n_outputs) {
  (void)payload, (void)attrs, (void)n_inputs, (void)n_outputs;
  if (TENON_DTYPE_CODE(inputs[0].dtype) != TENON_CODE_FLOAT) {
    return tenon_error_create(TENON_INVALID_ARGUMENT, tenon_str("C1: x must be floating point"));
  }
  out_types[0] = inputs[0];
  return NULL;
}

static tenon_error* gate_parts(void* payload, tenon_scope* scope, const void* attrs,
                               tenon_tensor* const* inputs, size_t n_inputs,
                               tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload, (void)attrs, (void)n_inputs, (void)n_outputs;
  tenon_tensor *soft = NULL, *weight = NULL;
  tenon_error* error = tenon_softplus(scope, inputs[0], &soft);
  if (!error) error = tenon_tanh(scope, soft, &weight);
  if (!error) error = tenon_mul(scope, inputs[0], weight, &out_outputs[0]);
  tenon_tensor_release(soft);
  tenon_tensor_release(weight);
  return error;
}

static uint32_t register_gate(tenon_context* context) {
  tenon_custom_op op = {0};
  op.struct_size = sizeof op;
  op.n_inputs = 1;
  op.n_outputs = 1;
  op.name = tenon_str("gate");
  op.infer = gate_types;
  op.decompose = gate_parts;
  uint32_t id = 0;
  must(tenon_op_register(context, &op, &id));
  return id;
}

int main(void) {
  const float values[] = {-1, 0, 1, 2};
  const int32_t whole = 1;
  tenon_context* context = NULL;
  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  const uint32_t gate = register_gate(context);

  tenon_tensor *x = vector(scope, values, 4), *y = NULL, *dx = NULL;
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape* tape = NULL;
  must(tenon_tape_create(scope, NULL, &tape));
  must(tenon_tape_watch(tape, source));
  must(tenon_call(scope, gate, NULL, &x, 1, &y, 1));
  must(tenon_tape_gradient(scope, tape, &y, 1, NULL, &source, 1, NULL, &dx));

  const tenon_format_options four_digits = {
      sizeof four_digits, 4, 1000, 3, 75, false,
  };
  tenon_string text = {NULL, 0};
  must(tenon_tensor_format(scope, y, &four_digits, &text));
  printf("y:  %s\n", text.data);
  tenon_string_release(text);
  must(tenon_tensor_format(scope, dx, &four_digits, &text));
  printf("dx: %s\n", text.data);
  tenon_string_release(text);

  tenon_tensor *integer = NULL, *none = NULL;
  must(tenon_tensor_from_data(scope, TENON_INT32, NULL, 0, &whole, sizeof whole, &integer));
  tenon_error* error = tenon_call(scope, gate, NULL, &integer, 1, &none, 1);
  printf("%s\n", tenon_error_message(error).data);
  tenon_error_release(error);

  tenon_tensor_release(integer);
  tenon_tape_release(tape);
  tenon_tensor_release(dx);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
  tenon_context_release(context);
  return 0;
}
