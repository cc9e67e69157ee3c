// relu6: clips elements to [0, 6].

#include <cmath>

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is numeric.
//   y has the type of x.

Tensors decompose(const NoAttrs&, TensorSpan in) { return {clip(in[0], integer(0), integer(6))}; }

// The derivative is 0 at both bounds. It depends only on y, so the tape saves y and not x.
Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor& y = v.output(0);
  const Tensor inside = logical_and(greater(y, integer(0)), less(y, integer(6)));
  return {where(inside, v.cotangent(0), integer(0))};
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-2, 0, 0.5, 6, 7})},
       .expect = {f32({0, 0, 0.5, 6, 6})},
       .check_gradient = false},
      {.name = "integers", .inputs = {i8({-3, 4, 100})}, .expect = {i8({0, 4, 6})}},
      {.name = "infinities_and_nan",
       .inputs = {f32({-INFINITY, INFINITY, NAN})},
       .expect = {f32({0, 6, NAN})},
       .check_gradient = false},
      {.name = "two_axes", .inputs = {uniform({3, 5}, -6, 12)}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "boolean", .inputs = {boolean({1, 0})}, .error = "C1"},
  };
}

}  // namespace

OpDef relu6_def() {
  return define_unary({
      .name = "relu6",
      .summary = "Each element clipped to [0, 6].",
      .formula = "y = min(max(x, 0), 6)",
      .details = "NaN stays NaN. The derivative at 0 and at 6 is 0.",
      .infer = infer_numeric,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kOutputs,
      .numeric = Numeric::kExact,
      .sparse_output = true,
  });
}

}  // namespace tenon::ops
