// softsign: x / (1 + |x|).

#include <cmath>

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is floating point.
//   y has the type of x.

Tensors decompose(const NoAttrs&, TensorSpan in) { return {in[0] / (1.0 + abs(in[0]))}; }

// Divides by the divisor twice, because its square could overflow in the half types.
Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor divisor = 1.0 + abs(v.input(0));
  return {v.cotangent(0) / divisor / divisor};
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example", .inputs = {f32({-3, -0.25, 1})}, .expect = {f32({-0.75, -0.2, 0.5})}},
      {.name = "zeros_keep_their_sign",
       .inputs = {f32({0, -0.0})},
       .expect = {f32({0, -0.0})},
       .check_gradient = false},
      {.name = "far_out", .inputs = {f32({-1e30, 1e30})}, .expect = {f32({-1, 1})}},
      {.name = "infinities_have_no_quotient",
       .inputs = {f32({-INFINITY, NAN})},
       .expect = {f32({NAN, NAN})},
       .check_gradient = false},
      {.name = "drawn", .inputs = {uniform({3, 5}, -3, 3)}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef softsign_def() {
  return define_unary({
      .name = "softsign",
      .summary = "A smooth approximation of the sign function, x / (1 + |x|).",
      .formula = "y = x / (1 + |x|)",
      .details = "The result is NaN at both infinities.",
      .infer = infer_floating,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kFirstInput,
      .numeric = Numeric::kComposite,
      .onnx = "Softsign",
  });
}

}  // namespace tenon::ops
