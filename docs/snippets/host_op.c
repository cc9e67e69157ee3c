/* docs/adding_an_op.md: a custom op with an attribute that the program computes in host memory. */

#include "docs/snippets/snippet.h"

typedef struct count_above_attrs {
  uint32_t struct_size;
  float bound;
} count_above_attrs;

static tenon_error* count_above_types(void* payload, const void* attrs, const tenon_type* inputs,
                                      size_t n_inputs, tenon_type* out_types, size_t n_outputs) {
  (void)payload, (void)attrs, (void)n_inputs, (void)n_outputs;
  if (inputs[0].dtype != TENON_FLOAT32) {
    return tenon_error_create(TENON_INVALID_ARGUMENT, tenon_str("C1: x must be float32"));
  }
  out_types[0].dtype = TENON_INT64;
  out_types[0].rank = 0;
  return NULL;
}

/* Counts the elements above the bound. Host arrays are always row-major, without gaps. */
static tenon_error* count_above(void* payload, const void* attrs, const tenon_host_array* inputs,
                                size_t n_inputs, const tenon_host_array* outputs,
                                size_t n_outputs) {
  (void)payload, (void)n_inputs, (void)n_outputs;
  const count_above_attrs* given = attrs;
  const float* x = inputs[0].data;
  int64_t count = 0;
  for (size_t i = 0; i < inputs[0].size / sizeof *x; ++i) count += x[i] > given->bound;
  *(int64_t*)outputs[0].data = count;
  return NULL;
}

int main(void) {
  const float values[] = {0.5f, 2, 3, 1};
  tenon_context* context = NULL;
  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);

  tenon_custom_op op = {0};
  op.struct_size = sizeof op;
  op.n_inputs = 1;
  op.n_outputs = 1;
  op.attrs_size = sizeof(count_above_attrs);
  op.name = tenon_str("count_above");
  op.infer = count_above_types;
  op.compute = count_above;
  uint32_t id = 0;
  must(tenon_op_register(context, &op, &id));

  const count_above_attrs attrs = {sizeof attrs, 1};
  tenon_tensor *x = vector(scope, values, 4), *count = NULL;
  must(tenon_call(scope, id, &attrs, &x, 1, &count, 1));
  show(scope, "above 1", count);

  tenon_tensor_release(count);
  tenon_tensor_release(x);
  tenon_context_release(context);
  return 0;
}
