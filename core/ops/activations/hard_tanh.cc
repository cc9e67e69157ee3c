// hard_tanh: clips elements to [min_val, max_val].

#include <cmath>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double min_val = -1;  // The lower bound.
  double max_val = 1;   // The upper bound.
  TENON_ATTRS(min_val, max_val)
};

// Constraints.
//   C1  x is floating point.
//   C2  min_val <= max_val.
//   C3  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require(is_floating(in[0].dtype), "C1: x must be floating point, but is {}", in[0].dtype);
  require(attrs.min_val <= attrs.max_val, "C2: min_val {} must not be above max_val {}",
          attrs.min_val, attrs.max_val);
  return {in[0]};  // C3
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  return {clip(in[0], number(attrs.min_val), number(attrs.max_val))};
}

// The derivative is 0 at both bounds. It depends only on y, so the tape need not save x.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor& y = v.output(0);
  const Tensor inside =
      logical_and(greater(y, number(attrs.min_val)), less(y, number(attrs.max_val)));
  return {where(inside, v.cotangent(0), number(0))};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-2, -0.5, 0.25, 2})},
       .expect = {f32({-1, -0.5, 0.25, 1})}},
      {.name = "min_val",
       .attrs = {.min_val = 0},
       .inputs = {f32({-2, 0.25, 2})},
       .expect = {f32({0, 0.25, 1})}},
      {.name = "max_val",
       .attrs = {.max_val = 3},
       .inputs = {f32({-2, 2, 4})},
       .expect = {f32({-1, 2, 3})}},
      {.name = "infinities_and_nan",
       .inputs = {f32({-INFINITY, INFINITY, NAN})},
       .expect = {f32({-1, 1, NAN})},
       .check_gradient = false},
      {.name = "drawn", .inputs = {uniform({3, 5}, -2, 2)}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
      {.name = "bounds_are_swapped", .attrs = {.min_val = 2}, .inputs = {f32({1})}, .error = "C2"},
  };
}

}  // namespace

OpDef hard_tanh_def() {
  return define<Attrs>({
      .name = "hard_tanh",
      .summary = "The elements of x, clipped to [min_val, max_val].",
      .formula = "y = min(max(x, min_val), max_val)",
      .details = "NaN propagates. The derivative at both bounds is 0.",
      .inputs = {{"x", "any floating tensor"}},
      .outputs = {{"y", "of the type of x"}},
      .attrs_doc = {{"min_val", "The lower bound."}, {"max_val", "The upper bound."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kOutputs,
      .elementwise = true,
      .numeric = Numeric::kExact,
      .sparse_output = true,
  });
}

}  // namespace tenon::ops
