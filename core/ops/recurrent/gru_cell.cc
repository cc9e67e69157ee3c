// gru_cell: one step of a gated recurrent unit (GRU), with ONNX's gate order.

#include "core/ops/recurrent/recurrent.h"

namespace tenon::ops {
namespace {

struct Attrs {
  bool linear_before_reset =
      false;  // true: the reset gate scales the product r h; false: h itself.
  TENON_ATTRS(linear_before_reset)
};

enum Input { kX, kH, kW, kR, kB };

// Constraints.
//   C1  All inputs are floating point and of one dtype.
//   C2  x and h have two axes.
//   C3  x is [B, I], h [B, H], w [3H, I], r [3H, H] and b [6H].
//   C4  The new h has the type of h.
TensorTypes infer(const Attrs&, TypeSpan in) {
  require_cell(in, kW, 3, {"x", "h", "w", "r", "b"});
  return {in[kH]};  // C4
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const GruStep step(in[kR], has(in, kB) ? in[kB] : Tensor(), attrs.linear_before_reset, 0);
  return {step(input_product(in[kX], in[kW], step.input_bias()), in[kH])};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 2}, {1, -1, 0.5, 2}), h = f32({2, 2}, {0.5, -0.5, 1, 0});
  const CaseTensor w = f32({6, 2}, {1, 0.5, -1, 0.25, 0, 1, 0.5, 0.5, -0.5, 1, 1, 1});
  const CaseTensor r = f32({6, 2}, {0.5, 1, 0, -1, 1, 0, 0.5, 0.25, -1, 1, 2, 0.5});
  const CaseTensor b = f32({0.5, 0, -0.25, 1, 0.75, -1, 0.25, 0.5, 1, -0.5, 0.5, 2});
  return {
      {.name = "example",
       .inputs = {x, h, w, r, b},
       .expect = {f32({2, 2}, {0.17872593561918032, 0.2787316252464921, 0.9979339504033862,
                               0.3775268438897047})}},
      {.name = "without_bias",
       .inputs = {x, h, w, r},
       .expect = {f32({2, 2}, {-0.13951051954135618, 0.0025693313062117584, 0.9597803655718741,
                               0.49985083324029184})}},
      {.name = "linear_before_reset",
       .attrs = {.linear_before_reset = true},
       .inputs = {x, h, w, r, b},
       .expect = {f32({2, 2}, {0.15727599700125966, 0.15162043065891495, 0.9978867728793348,
                               0.37751362816512696})}},
      {.name = "linear_before_reset_without_bias",
       .attrs = {.linear_before_reset = true},
       .inputs = {x, h, w, r},
       .expect = {f32({2, 2}, {-0.13671482964377252, 0.0967163064299188, 0.9597803655718741,
                               0.49977693208931995})}},
      {.name = "saturated",
       .inputs = {f32({1, 1}, {1000}), f32({1, 1}, {3}), f32({3, 1}, {1, 1, 1}),
                  f32({3, 1}, {0, 0, 0})},
       .expect = {f32({1, 1}, {3})}},
      {.name = "drawn",
       .inputs = {uniform({3, 2}), uniform({3, 4}), uniform({12, 2}), uniform({12, 4}),
                  uniform({24})}},
      {.name = "empty_batch", .inputs = {uniform({0, 2}), uniform({0, 2}), w, r, b}},
      {.name = "integers",
       .inputs = {i32({1, 1}, {1}), i32({1, 1}, {1}), i32({3, 1}, {1, 1, 1}),
                  i32({3, 1}, {1, 1, 1})},
       .error = "C1"},
      {.name = "input_is_a_vector", .inputs = {f32({1, 2}), h, w, r}, .error = "C2"},
      {.name = "weights_differ", .inputs = {x, h, uniform({8, 2}), r}, .error = "C3"},
      {.name = "bias_without_its_other_half", .inputs = {x, h, w, r, uniform({6})}, .error = "C3"},
  };
}

}  // namespace

OpDef gru_cell_def() {
  return define<Attrs>({
      .name = "gru_cell",
      .summary = "One step of a gated recurrent unit (GRU).",
      .formula = "z, r = sigmoid(x @ w_zr^T + h @ r_zr^T + b_zr + c_zr); "
                 "n = tanh(x @ w_n^T + b_n + (r * h) @ r_n^T + c_n), or with linear_before_reset "
                 "tanh(x @ w_n^T + b_n + r * (h @ r_n^T + c_n)); h' = (1 - z) * n + z * h, where "
                 "w, r, b[:3H] and c = b[3H:] hold the gates z, r and n one after another",
      .details = "The gates are in ONNX's order: update, reset, hidden.",
      .inputs = {{"x", "[B, I], the input at this step"},
                 {"h", "[B, H], the previous output"},
                 {"w", "[3H, I], the weights of x"},
                 {"r", "[3H, H], the weights of h"},
                 {"b", "[6H], the biases of the products with w, then of those with r",
                  InputKind::kOptional}},
      .outputs = {{"h", "[B, H], the output"}},
      .attrs_doc = {{"linear_before_reset",
                     "Whether the reset gate scales the product with h in the hidden gate, instead "
                     "of h itself."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
