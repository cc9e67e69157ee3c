/* An LSTM cell: one matrix product and a dozen small calls, which a trace fuses. */

#include <math.h>

#include "examples/c/eager_and_traced.h"

enum { kInputs = 2, kHidden = 2, kIn = 0, kH = 1, kC = 2, kWeights = 3 };

static tenon_tensor* sigmoid_of(tenon_scope* scope, tenon_tensor* x) {
  tenon_tensor* y = NULL;
  must(tenon_sigmoid(scope, x, &y));
  return y;
}

static tenon_tensor* tanh_of(tenon_scope* scope, tenon_tensor* x) {
  tenon_tensor* y = NULL;
  must(tenon_tanh(scope, x, &y));
  return y;
}

static tenon_tensor* product(tenon_scope* scope, tenon_tensor* a, tenon_tensor* b) {
  tenon_tensor* y = NULL;
  must(tenon_mul(scope, a, b, &y));
  return y;
}

/* Computes the next h and c from x, h, c and the weights. */
CODE(lstm_cell) {
  const tenon_concat_attrs side_by_side = {sizeof side_by_side, 1};
  const tenon_split_attrs in_four = {sizeof in_four, 1, 4, NULL, 0};
  tenon_tensor* both[] = {in[kIn], in[kH]};
  tenon_tensor *xh = NULL, *xhw = NULL, *part[4], *kept = NULL, *added = NULL;
  (void)payload, (void)n_in, (void)statics, (void)n_statics, (void)max_out;
  must(tenon_concat(scope, both, 2, &side_by_side, &xh));
  must(tenon_matmul(scope, xh, in[kWeights], NULL, &xhw));
  must(tenon_split(scope, xhw, &in_four, part, 4));

  tenon_tensor* value = tanh_of(scope, part[0]);
  tenon_tensor* in_gate = sigmoid_of(scope, part[1]);
  tenon_tensor* forget_gate = sigmoid_of(scope, part[2]);
  tenon_tensor* out_gate = sigmoid_of(scope, part[3]);
  kept = product(scope, forget_gate, in[kC]);
  added = product(scope, in_gate, value);
  must(tenon_add(scope, kept, added, &out[1]));
  tenon_tensor* squashed = tanh_of(scope, out[1]);
  out[0] = product(scope, out_gate, squashed);

  tenon_tensor* all[] = {xh,      xhw,         part[0],  part[1], part[2], part[3], value,
                         in_gate, forget_gate, out_gate, kept,    added,   squashed};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) tenon_tensor_release(all[i]);
  return NULL;
}

/* sin(k) for k = 0, 1, 2 and so on. */
static tenon_tensor* weights(tenon_scope* scope) {
  float values[(kInputs + kHidden) * 4 * kHidden];
  const int64_t n = sizeof values / sizeof *values;
  for (int64_t k = 0; k < n; ++k) values[k] = sinf((float)k);
  return f32_matrix(scope, values, kInputs + kHidden, 4 * kHidden);
}

static void example(tenon_scope* scope) {
  const tenon_function_body body = {lstm_cell, NULL, NULL};
  const float x[] = {0.5f, -1}, h[] = {0.25f, 0.75f}, c[] = {1, -0.5f};
  tenon_function* f = function_of(scope, body, NULL);
  tenon_tensor* in[] = {f32_matrix(scope, x, 1, kInputs), f32_matrix(scope, h, 1, kHidden),
                        f32_matrix(scope, c, 1, kHidden), weights(scope)};
  for (int step = 0; step < 3; ++step) {
    tenon_tensor* out[2];
    must(tenon_function_call(scope, f, in, 4, NULL, 0, out, 2, NULL));
    tenon_tensor_release(in[kH]);
    tenon_tensor_release(in[kC]);
    in[kH] = out[0];
    in[kC] = out[1];
    show(scope, "h: ", out[0]);
  }
  for (int i = 0; i < 4; ++i) tenon_tensor_release(in[i]);
  tenon_function_release(f);
}

int main(void) { return run_eager_and_traced(example); }
