// relu: the rectified linear unit, max(x, 0).

#include <cmath>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is numeric.
//   C2  type(y) = type(x).
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  require(is_numeric(in[0].dtype), "C1: x must be numeric, but is {}", in[0].dtype);
  return {in[0]};  // C2
}

Tensors decompose(const NoAttrs&, TensorSpan in) { return {maximum(in[0], integer(0))}; }

// The derivative at 0 is 0. It depends only on the sign of y, so the tape saves y and not x.
Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  return {where(greater(v.output(0), integer(0)), v.cotangent(0), integer(0))};
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-2, -0.5, 0, 0.5, 2})},
       .expect = {f32({0, 0, 0, 0.5, 2})},
       .check_gradient = false},
      {.name = "integers", .inputs = {i32({-3, 0, 4})}, .expect = {i32({0, 0, 4})}},
      {.name = "infinities",
       .inputs = {f32({-INFINITY, INFINITY})},
       .expect = {f32({0, INFINITY})},
       .check_gradient = false},
      {.name = "nan_stays",
       .inputs = {f32({NAN, 1})},
       .expect = {f32({NAN, 1})},
       .check_gradient = false},
      {.name = "two_axes", .inputs = {uniform({3, 5})}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "boolean", .inputs = {boolean({1, 0})}, .error = "C1"},
  };
}

}  // namespace

OpDef relu_def() {
  return define<NoAttrs>({
      .name = "relu",
      .summary = "The rectified linear unit: max(x, 0) for each element.",
      .formula = "y = max(x, 0)",
      .details = "NaN stays NaN. The derivative at 0 is 0.",
      .inputs = {{"x", "a tensor of any numeric dtype"}},
      .outputs = {{"y", "the result, with the shape and dtype of x"}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kOutputs,
      .elementwise = true,
      .numeric = Numeric::kExact,
      .sparse_output = true,
      .onnx = "Relu",
  });
}

}  // namespace tenon::ops
