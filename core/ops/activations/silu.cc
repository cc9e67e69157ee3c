// silu: x times its own sigmoid.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is floating point.
//   C2  type(y) = type(x).
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  require(is_floating(in[0].dtype), "C1: x must be floating point, but is {}", in[0].dtype);
  return {in[0]};  // C2
}

Tensors decompose(const NoAttrs&, TensorSpan in) { return {in[0] * sigmoid(in[0])}; }

Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor& x = v.input(0);
  const Tensor s = sigmoid(x);
  return {v.cotangent(0) * s * (1.0 + x * (1.0 - s))};
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-1, 0, 1, 2})},
       .expect = {f32({-0.2689414213699951, 0, 0.7310585786300049, 1.7615941559557649})}},
      {.name = "far_out", .inputs = {f32({-200, 200})}, .expect = {f32({0, 200})}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef silu_def() {
  return define<NoAttrs>({
      .name = "silu",
      .summary = "The sigmoid linear unit (swish): each element times its sigmoid.",
      .formula = "y = x / (1 + exp(-x))",
      .inputs = {{"x", "a floating-point tensor"}},
      .outputs = {{"y", "the result, with the shape and dtype of x"}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kFirstInput,
      .elementwise = true,
      .numeric = Numeric::kTranscendental,
  });
}

}  // namespace tenon::ops
