// shrink: sets elements with a small magnitude to zero and moves the others towards zero.

#include <cmath>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double lambd = 0.5;  // Elements with a magnitude of at most lambd become zero.
  double bias = 0;     // Distance by which the other elements move towards zero.
  TENON_ATTRS(lambd, bias)
};

// Constraints.
//   C1  x is floating point.
//   C2  lambd is not negative.
//   C3  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require(is_floating(in[0].dtype), "C1: x must be floating point, but is {}", in[0].dtype);
  require(attrs.lambd >= 0, "C2: lambd must not be negative, but is {}", attrs.lambd);
  return {in[0]};  // C3
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor& x = in[0];
  const Tensor moved = x - attrs.bias * sign(x);
  return {where(less_equal(abs(x), number(attrs.lambd)), number(0), moved)};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({-2, -0.5, 0.25, 0.5, 2});
  return {
      {.name = "example",
       .inputs = {x},
       .expect = {f32({-2, 0, 0, 0, 2})},
       .check_gradient = false},
      {.name = "lambd",
       .attrs = {.lambd = 0.375},
       .inputs = {x},
       .expect = {f32({-2, -0.5, 0, 0.5, 2})}},
      {.name = "bias",
       .attrs = {.lambd = 1.5, .bias = 1.5},
       .inputs = {x},
       .expect = {f32({-0.5, 0, 0, 0, 0.5})}},
      {.name = "negative_bias",
       .attrs = {.bias = -1},
       .inputs = {f32({-2, 2})},
       .expect = {f32({-3, 3})}},
      {.name = "infinities_and_nan",
       .attrs = {.bias = 1},
       .inputs = {f32({-INFINITY, INFINITY, NAN})},
       .expect = {f32({-INFINITY, INFINITY, NAN})},
       .check_gradient = false},
      {.name = "drawn", .attrs = {.bias = 0.25}, .inputs = {uniform({3, 5})}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
      {.name = "negative_lambd", .attrs = {.lambd = -1}, .inputs = {f32({1})}, .error = "C2"},
  };
}

}  // namespace

OpDef shrink_def() {
  return define<Attrs>({
      .name = "shrink",
      .summary = "Elements moved towards zero; those near zero become zero.",
      .formula = "y = x < -lambd ? x + bias : x > lambd ? x - bias : 0",
      .details = "NaN stays NaN. The derivative at -lambd and at lambd is 0.",
      .inputs = {{"x", "a floating-point tensor"}},
      .outputs = {{"y", "the result, with the shape and dtype of x"}},
      .attrs_doc = {{"lambd",
                     "The distance from zero up to which elements become 0; not negative."},
                    {"bias", "The distance by which the other elements are moved."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .elementwise = true,
      .numeric = Numeric::kRounded,
      .sparse_output = true,
      .onnx = "Shrink",
  });
}

}  // namespace tenon::ops
