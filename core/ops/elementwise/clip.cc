// clip: limits elements to [min, max].

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x, min and max are numeric.
//   C2  x, min and max can be broadcast to a common shape.
//   y has their common dtype and the shape that they broadcast to.

// The cotangent goes to the input that is the result: x, min or max. If x equals a bound, it goes
// to x.
Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor &g = v.cotangent(0), &x = v.input(0), &min = v.input(1), &max = v.input(2);
  const auto only_where = [&](const Tensor& condition) { return where(condition, g, number(0)); };
  return gradients(
      v, [&] { return only_where(logical_and(greater_equal(x, min), less_equal(x, max))); },
      [&] { return only_where(logical_and(less(x, min), less_equal(min, max))); },
      [&] { return only_where(logical_or(greater(x, max), greater(min, max))); });
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-2, 0.5, 3}), scalar(0), scalar(1)},
       .expect = {f32({0, 0.5, 1})}},
      {.name = "bounds_are_tensors",
       .inputs = {f32({2, 2}, {1, 2, 3, 4}), f32({2, 3}), f32({2, 1}, {3, 3.5})},
       .expect = {f32({2, 2}, {2, 3, 3, 3.5})},
       .check_gradient = false},
      {.name = "integers", .inputs = {i32({-5, 5}), i32({-1}), i32({1})}, .expect = {i32({-1, 1})}},
      {.name = "max_wins_over_min",
       .inputs = {f32({0, 2, 9}), scalar(5), scalar(1)},
       .expect = {f32({1, 1, 1})}},
      {.name = "no_elements", .inputs = {uniform({0}), scalar(0), scalar(1)}},
      {.name = "bool_is_not_numeric",
       .inputs = {boolean({1}), boolean({0}), boolean({1})},
       .error = "C1"},
      {.name = "shapes_that_do_not_broadcast",
       .inputs = {uniform({2}), uniform({3}), scalar(1)},
       .error = "C2"},
  };
}

}  // namespace

OpDef clip_def() {
  return define<NoAttrs>({
      .name = "clip",
      .summary = "The elements of x, limited to the range from min to max.",
      .formula = "y = minimum(maximum(x, min), max)",
      .details = "NaN propagates. Where x equals a bound, the gradient goes to x.",
      .inputs = {{"x", "the input"}, {"min", "the lower bound"}, {"max", "the upper bound"}},
      .outputs = {{"y", "the result, of the shape that the inputs broadcast to"}},
      .infer = infer_numeric,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kInputs,
      .promotes = Promotes::kAll,
      .elementwise = true,
      .onnx = "Clip",
  });
}

}  // namespace tenon::ops
