// mish: x times the tanh of its softplus.

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is floating point.
//   y has the type of x.

Tensors decompose(const NoAttrs&, TensorSpan in) { return {in[0] * tanh(softplus(in[0]))}; }

Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor& x = v.input(0);
  const Tensor t = tanh(softplus(x));
  return {v.cotangent(0) * (t + x * (1.0 - t * t) * sigmoid(x))};
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-1, 0, 1, 2})},
       .expect = {f32({-0.30340146137410895, 0, 0.8650983882673103, 1.9439589595339946})}},
      {.name = "far_out",
       .inputs = {f32({-200, -20, 200})},
       .expect = {f32({0, -4.122307240628762e-08, 200})}},
      {.name = "drawn", .inputs = {uniform({3, 5}, -4, 4)}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef mish_def() {
  return define_unary({
      .name = "mish",
      .summary = "x times the tanh of its softplus.",
      .formula = "y = x * tanh(ln(1 + exp(x)))",
      .infer = infer_floating,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kFirstInput,
      .numeric = Numeric::kTranscendental,
      .onnx = "Mish",
  });
}

}  // namespace tenon::ops
