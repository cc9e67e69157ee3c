// lstm_cell: one step of a long short-term memory (LSTM), with ONNX's gate order.

#include "core/ops/recurrent/recurrent.h"

namespace tenon::ops {
namespace {

enum Input { kX, kH, kC, kW, kR, kB };

// Constraints.
//   C1  All inputs are floating point and of one dtype.
//   C2  x and h have two axes.
//   C3  x is [B, I], h [B, H], c [B, H], w [4H, I], r [4H, H] and b [8H].
//   C4  The new h and c have the type of h.
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  require_cell(in, kW, 4, {"x", "h", "c", "w", "r", "b"});
  return {in[kH], in[kH]};  // C4
}

Tensors decompose(const NoAttrs&, TensorSpan in) {
  const Tensor bias = add_biases(has(in, kB) ? in[kB] : Tensor());
  const LstmState next = lstm_step(input_product(in[kX], in[kW], bias), {in[kH], in[kC]}, in[kR]);
  return {next.h, next.c};
}

Cases<NoAttrs> cases() {
  const CaseTensor x = f32({1, 2}, {1, -1}), state = f32({1, 1}, {0.5});
  const CaseTensor w = f32({4, 2}, {1, 0, 0, 1, 1, 1, 0.5, -0.5}), r = f32({4, 1}, {1, 2, -1, 0});
  return {
      {.name = "example",
       .inputs = {x, state, f32({1, 1}, {2}), w, r, f32({0, 1, 0, 0, 0, 0, 1, -1})},
       .expect = {f32({1, 1}, {0.6190988590159364}), f32({1, 1}, {1.2449186624037092})},
       .n_outputs = 2},
      {.name = "without_bias",
       .inputs = {x, state, f32({1, 1}, {2}), w, r},
       .expect = {f32({1, 1}, {0.4402222385400254}), f32({1, 1}, {1.3777412807239653})},
       .n_outputs = 2},
      {.name = "batch",
       .inputs = {uniform({3, 2}), uniform({3, 4}), uniform({3, 4}), uniform({16, 2}),
                  uniform({16, 4}), uniform({32})},
       .n_outputs = 2},
      {.name = "saturated",
       .inputs = {f32({1, 1}, {1000}), f32({1, 1}, {0}), f32({1, 1}, {3}),
                  f32({4, 1}, {1, 1, 1, -1}), f32({4, 1}, {0, 0, 0, 0})},
       .expect = {f32({1, 1}, {0.9640275800758169}), f32({1, 1}, {2})},
       .n_outputs = 2},
      {.name = "empty_batch",
       .inputs = {uniform({0, 2}), uniform({0, 1}), uniform({0, 1}), w, r},
       .n_outputs = 2},
      {.name = "integers",
       .inputs = {i32({1, 1}, {1}), i32({1, 1}, {1}), i32({1, 1}, {1}), i32({4, 1}, {1, 1, 1, 1}),
                  i32({4, 1}, {1, 1, 1, 1})},
       .error = "C1"},
      {.name = "input_is_a_vector", .inputs = {f32({1, 2}), state, state, w, r}, .error = "C2"},
      {.name = "weights_differ", .inputs = {x, state, state, r, r}, .error = "C3"},
      {.name = "bias_of_four_gates_alone",
       .inputs = {x, state, state, w, r, uniform({4})},
       .error = "C3"},
  };
}

}  // namespace

OpDef lstm_cell_def() {
  return define<NoAttrs>({
      .name = "lstm_cell",
      .summary = "One step of a long short-term memory (LSTM).",
      .formula = "i, o, f, g = split(x @ w^T + h @ r^T + b[:4H] + b[4H:]); "
                 "c' = sigmoid(f) * c + sigmoid(i) * tanh(g); h' = sigmoid(o) * tanh(c')",
      .details = "The gates are in ONNX's order: input, output, forget, cell.",
      .inputs = {{"x", "[B, I], the input at this step"},
                 {"h", "[B, H], the previous output"},
                 {"c", "[B, H], the previous cell state"},
                 {"w", "[4H, I], the weights of x"},
                 {"r", "[4H, H], the weights of h"},
                 {"b", "[8H], the biases of the products with w, then of those with r",
                  InputKind::kOptional}},
      .outputs = {{"h", "[B, H], the output"}, {"c", "[B, H], the new cell state"}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
