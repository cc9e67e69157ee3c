// hard_swish: x times a linear function clipped to [0, 1].

#include <cmath>

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is floating point.
//   y has the type of x.

// For x < -3 the linear function is 0. Clamping x to at least -3 avoids -infinity * 0.
Tensors decompose(const NoAttrs&, TensorSpan in) {
  const Tensor& x = in[0];
  const Tensor line = clip(x / 6.0 + 0.5, number(0), number(1));
  return {maximum(x, number(-3)) * line};
}

Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor &x = v.input(0), &dy = v.cotangent(0);
  const Tensor bent = where(less(x, number(3)), dy * (x / 3.0 + 0.5), dy);
  return {where(greater(x, number(-3)), bent, number(0))};
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-4, -1.5, 0, 1.5, 4})},
       .expect = {f32({0, -0.375, 0, 1.125, 4})}},
      {.name = "edges", .inputs = {f32({-3, 3})}, .expect = {f32({0, 3})}, .check_gradient = false},
      {.name = "infinities_and_nan",
       .inputs = {f32({-INFINITY, INFINITY, NAN})},
       .expect = {f32({0, INFINITY, NAN})},
       .check_gradient = false},
      {.name = "drawn", .inputs = {uniform({3, 5}, -5, 5)}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef hard_swish_def() {
  return define_unary({
      .name = "hard_swish",
      .summary = "x times a linear function of x, clipped to [0, 1].",
      .formula = "y = x * max(0, min(1, x / 6 + 1 / 2))",
      .details = "Minus infinity gives 0. The derivative is 0 at -3 and 1 at 3.",
      .infer = infer_floating,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kFirstInput,
      .numeric = Numeric::kComposite,
      .sparse_output = true,
      .onnx = "HardSwish",
  });
}

}  // namespace tenon::ops
