// softplus: log(1 + exp(x)), a smooth approximation of relu.

#include <cmath>

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

// The argument of exp() is never positive, so that exp() does not overflow. log1p stays accurate
// when exp() is small.
Tensors decompose(const NoAttrs&, TensorSpan in) {
  const Tensor& x = in[0];
  return {maximum(x, number(0)) + log1p(exp(-abs(x)))};
}

Tensors vjp(const NoAttrs&, const VjpArgs& v) { return {v.cotangent(0) * sigmoid(v.input(0))}; }

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-1, 0, 1})},
       .expect = {f32({0.31326168751822286, 0.6931471805599453, 1.3132616875182228})}},
      {.name = "far_out",
       .inputs = {f32({-1000, -50, 50, 1000})},
       .expect = {f32({0, 1.9287498479639178e-22, 50, 1000})}},
      {.name = "infinities",
       .inputs = {f32({-INFINITY, INFINITY})},
       .expect = {f32({0, INFINITY})},
       .check_gradient = false},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef softplus_def() {
  return define<NoAttrs>({
      .name = "softplus",
      .summary = "A smooth approximation of relu: the logarithm of one plus the exponential.",
      .formula = "y = log(1 + exp(x))",
      .inputs = {{"x", "a floating-point tensor"}},
      .outputs = {{"y", "the result, with the shape and dtype of x"}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kFirstInput,
      .elementwise = true,
      .numeric = Numeric::kTranscendental,
      .onnx = "Softplus",
  });
}

}  // namespace tenon::ops
