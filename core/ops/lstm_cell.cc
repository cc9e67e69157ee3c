// lstm_cell: one step of a long short-term memory, with ONNX's order of gates.

#include "core/ops/formulas.h"

namespace tenon::ops {
namespace {

enum Input { kX, kH, kC, kW, kR, kB };

void require_shape(const TensorType& x, const Dims& shape, const char* name) {
  require(x.shape == shape, "C3: {} must have the shape {}, but is {}", name, shape, x);
}

// Constraints.
//   C1  All inputs are floating point and of one dtype.
//   C2  x and h have two axes.
//   C3  With x [B, I] and h [B, H]: c is [B, H], w [4H, I], r [4H, H] and b [8H].
//   C4  The new h and c have the type of h.
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  constexpr const char* kNames[] = {"x", "h", "c", "w", "r", "b"};
  const TensorType &x = in[kX], &h = in[kH];
  for (size_t i = 0; i < in.size(); ++i) {
    require(!in.has(i) || (is_floating(in[i].dtype) && in[i].dtype == x.dtype),
            "C1: {} must be floating point and like x: {}, but is {}", kNames[i], x, in[i]);
  }
  require(x.rank() == 2 && h.rank() == 2, "C2: x and h must have two axes, but are {} and {}", x,
          h);
  const int64_t batch = x.shape[0], features = x.shape[1], hidden = h.shape[1];
  require_shape(h, {batch, hidden}, "h");
  require_shape(in[kC], {batch, hidden}, "c");
  require_shape(in[kW], {4 * hidden, features}, "w");
  require_shape(in[kR], {4 * hidden, hidden}, "r");
  if (in.has(kB)) require_shape(in[kB], {8 * hidden}, "b");
  return {h, h};  // C4
}

// The four gates are one product with the input and one with the state, cut apart afterwards.
Tensors decompose(const NoAttrs&, TensorSpan in) {
  const int64_t hidden = in[kH]->shape()[1];
  Tensor gates =
      matmul(in[kX], in[kW], {.transpose_b = true}) + matmul(in[kH], in[kR], {.transpose_b = true});
  if (has(in, kB)) gates = gates + sum(reshape(in[kB], {2, 4 * hidden}), {.axes = {0}});

  const SplitAttrs quarters{.axis = 1, .split = {hidden, hidden, hidden, hidden}};
  const Tensors gate = call_op(OpId::k_split, any_attrs(quarters), {&gates, 1});
  const Tensor keep = sigmoid(gate[2]) * in[kC];
  const Tensor c = keep + sigmoid(gate[0]) * tanh(gate[3]);
  return {sigmoid(gate[1]) * tanh(c), c};
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
      .summary = "One step of a long short-term memory.",
      .formula = "i, o, f, g = split(x @ w^T + h @ r^T + b[:4H] + b[4H:]); "
                 "c' = sigmoid(f) * c + sigmoid(i) * tanh(g); h' = sigmoid(o) * tanh(c')",
      .details = "The gates are in ONNX's order: input, output, forget, cell.",
      .inputs = {{"x", "[B, I], the input of this step"},
                 {"h", "[B, H], the last output"},
                 {"c", "[B, H], the last cell state"},
                 {"w", "[4H, I], the weights of x"},
                 {"r", "[4H, H], the weights of h"},
                 {"b", "[8H], the biases beside w, then those beside r", InputKind::kOptional}},
      .outputs = {{"h", "[B, H], the output"}, {"c", "[B, H], the cell state"}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
