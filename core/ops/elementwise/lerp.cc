// lerp: linear interpolation between two tensors by a weight.

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

enum Input { kA, kB, kWeight };

// Constraints.
//   C1  a, b and weight are floating point.
//   C2  a, b and weight broadcast.
//   y has their common dtype and the shape that they broadcast to.

// Interpolates from the nearer of a and b, so that weights of 0 and 1 give exactly a and b.
Tensors decompose(const NoAttrs&, TensorSpan in) {
  const Tensor &a = in[kA], &b = in[kB], &weight = in[kWeight];
  const Tensor way = b - a;
  return {where(less(weight, number(0.5)), a + weight * way, b - way * (1.0 - weight))};
}

Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor &g = v.cotangent(0), &weight = v.input(kWeight);
  return gradients(
      v, [&] { return g * (1.0 - weight); }, [&] { return g * weight; },
      [&] { return g * (v.input(kB) - v.input(kA)); });
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({1, 2, -4}), f32({3, 10, 4}), f32({0.5, 0.25, 0.75})},
       .expect = {f32({2, 4, 2})}},
      {.name = "ends_are_met",
       .inputs = {f32({16777216, 16777216}), f32({0.1, 0.1}), f32({0, 1})},
       .expect = {f32({16777216, 0.1})},
       .rtol = 0,
       .atol = 0,
       .check_gradient = false},
      {.name = "beyond_the_ends",
       .inputs = {f32({1, 1}), f32({3, 3}), f32({-1, 2})},
       .expect = {f32({-1, 5})}},
      {.name = "one_weight",
       .inputs = {f32({2, 1}, {0, 8}), f32({4, 12}), scalar(0.25)},
       .expect = {f32({2, 2}, {1, 3, 7, 9})}},
      {.name = "drawn", .inputs = {uniform({2, 3}), uniform({3}), uniform({2, 1}, 0, 1)}},
      {.name = "no_elements", .inputs = {uniform({0}), uniform({0}), scalar(0.5)}},
      {.name = "integer_is_not_floating", .inputs = {i32({1}), i32({1}), i32({1})}, .error = "C1"},
      {.name = "shapes_that_do_not_broadcast",
       .inputs = {uniform({2}), uniform({3}), scalar(1)},
       .error = "C2"},
  };
}

}  // namespace

OpDef lerp_def() {
  return define<NoAttrs>({
      .name = "lerp",
      .summary = "Linear interpolation between two tensors by a weight.",
      .formula = "y = a + weight * (b - a)",
      .details = "A weight of 1 gives exactly b. Weights outside [0, 1] extrapolate.",
      .inputs = {{"a", "the start"},
                 {"b", "the end"},
                 {"weight", "the interpolation weight, 1 for b"}},
      .outputs = {{"y", "the interpolated values, in the shape that the inputs broadcast to"}},
      .infer = infer_floating,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kInputs,
      .promotes = Promotes::kAll,
      .elementwise = true,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
