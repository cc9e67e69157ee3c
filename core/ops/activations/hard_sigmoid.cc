// hard_sigmoid: a linear function clipped to [0, 1].

#include <cmath>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double alpha = 0.2;  // Slope of the linear part.
  double beta = 0.5;   // Value of the linear part at x = 0.
  TENON_ATTRS(alpha, beta)
};

// Constraints.
//   C1  x is floating point.
//   C2  type(y) = type(x).
TensorTypes infer(const Attrs&, TypeSpan in) {
  require(is_floating(in[0].dtype), "C1: x must be floating point, but is {}", in[0].dtype);
  return {in[0]};  // C2
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  return {clip(attrs.alpha * in[0] + attrs.beta, number(0), number(1))};
}

// The derivative is 0 at both bounds. It depends only on y, so the tape need not save x.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor& y = v.output(0);
  const Tensor inside = logical_and(greater(y, number(0)), less(y, number(1)));
  return {where(inside, attrs.alpha * v.cotangent(0), number(0))};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-3, -1, 0, 1, 3})},
       .expect = {f32({0, 0.3, 0.5, 0.7, 1})}},
      {.name = "alpha",
       .attrs = {.alpha = 0.5},
       .inputs = {f32({-2, 0.5, 2})},
       .expect = {f32({0, 0.75, 1})}},
      {.name = "beta",
       .attrs = {.alpha = 0.5, .beta = 0.25},
       .inputs = {f32({-2, 0.5, 2})},
       .expect = {f32({0, 0.5, 1})}},
      {.name = "infinities_and_nan",
       .inputs = {f32({-INFINITY, INFINITY, NAN})},
       .expect = {f32({0, 1, NAN})},
       .check_gradient = false},
      {.name = "drawn", .inputs = {uniform({3, 5}, -4, 4)}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef hard_sigmoid_def() {
  return define<Attrs>({
      .name = "hard_sigmoid",
      .summary = "A linear function of x, clipped to [0, 1].",
      .formula = "y = max(0, min(1, alpha * x + beta))",
      .details = "NaN propagates. The derivative at both bounds is 0.",
      .inputs = {{"x", "any floating tensor"}},
      .outputs = {{"y", "of the type of x"}},
      .attrs_doc = {{"alpha", "The slope of the line."}, {"beta", "The value of the line at 0."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kOutputs,
      .elementwise = true,
      .numeric = Numeric::kComposite,
      .sparse_output = true,
      .onnx = "HardSigmoid",
  });
}

}  // namespace tenon::ops
