// rnn_cell: one step of a simple recurrent network.

#include "core/ops/recurrent/recurrent.h"

namespace tenon::ops {
namespace {

struct Attrs {
  RnnActivation activation = RnnActivation::kTanh;  // Applied to the sum of both products.
  TENON_ATTRS(activation)
};

enum Input { kX, kH, kW, kR, kB };

// Constraints.
//   C1  All inputs are floating point and of one dtype.
//   C2  x and h have two axes.
//   C3  With x [B, I] and h [B, H]: w is [H, I], r [H, H] and b [2H].
//   C4  The new h has the type of h.
TensorTypes infer(const Attrs&, TypeSpan in) {
  require_cell(in, kW, 1, {"x", "h", "w", "r", "b"});
  return {in[kH]};  // C4
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor bias = add_biases(has(in, kB) ? in[kB] : Tensor());
  return {rnn_step(input_product(in[kX], in[kW], bias), in[kH], in[kR], attrs.activation, 0)};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 2}, {1, -1, 0.5, 2}), h = f32({2, 2}, {0.5, -0.5, 1, 0});
  const CaseTensor w = f32({2, 2}, {1, 0.5, -1, 0.25}), r = f32({2, 2}, {0.5, 1, 0, -1});
  const CaseTensor b = f32({0.5, 0, -0.25, 1});
  return {
      {.name = "example",
       .inputs = {x, h, w, r, b},
       .expect = {f32({2, 2}, {0.46211715726000974, 0.24491866240370913, 0.9780261147388136,
                               0.7615941559557649})}},
      {.name = "without_bias",
       .inputs = {x, h, w, r},
       .expect = {f32({2, 2}, {0.24491866240370913, -0.6351489523872873, 0.9640275800758169, 0})}},
      {.name = "activation",
       .attrs = {.activation = RnnActivation::kRelu},
       .inputs = {x, h, w, r, b},
       .expect = {f32({2, 2}, {0.5, 0.25, 2.25, 1})}},
      {.name = "drawn",
       .inputs = {uniform({3, 2}), uniform({3, 4}), uniform({4, 2}), uniform({4, 4}),
                  uniform({8})}},
      {.name = "empty_batch", .inputs = {uniform({0, 2}), uniform({0, 2}), w, r, b}},
      {.name = "integers",
       .inputs = {i32({1, 1}, {1}), i32({1, 1}, {1}), i32({1, 1}, {1}), i32({1, 1}, {1})},
       .error = "C1"},
      {.name = "state_is_a_vector", .inputs = {x, f32({1, 2}), w, r}, .error = "C2"},
      {.name = "weights_differ", .inputs = {x, h, uniform({4, 2}), r}, .error = "C3"},
      {.name = "bias_without_its_other_half", .inputs = {x, h, w, r, f32({1, 2})}, .error = "C3"},
  };
}

}  // namespace

OpDef rnn_cell_def() {
  return define<Attrs>({
      .name = "rnn_cell",
      .summary = "One step of a simple (Elman) recurrent network.",
      .formula = "h' = activation(x @ w^T + h @ r^T + b[:H] + b[H:])",
      .inputs =
          {{"x", "[B, I], the input of this step"},
           {"h", "[B, H], the output of the previous step"},
           {"w", "[H, I], the weights applied to x"},
           {"r", "[H, H], the recurrent weights, applied to h"},
           {"b",
            "[2H], the biases added to the product with w, then those added to the product with r",
            InputKind::kOptional}},
      .outputs = {{"h", "[B, H], the output of this step"}},
      .attrs_doc = {{"activation", "The activation applied to the sum: tanh or relu."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
