// prelu: x above zero, and slope * x below zero, with a learned slope.

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

enum Input { kX, kSlope };

// Constraints.
//   C1  x and slope are numeric.
//   C2  slope can be broadcast to the shape of x.
//   C3  type(y) = type(x).
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  const TensorType &x = in[kX], &slope = in[kSlope];
  require(is_numeric(x.dtype), "C1: x must be numeric, but is {}", x.dtype);
  require(slope.rank() <= x.rank() && require_broadcast(x, slope, "C2") == x.shape,
          "C2: slope: {} cannot be broadcast to x: {}", slope, x);
  return {TensorType(x.dtype, x.shape)};  // C3
}

// Returns a bool tensor: whether each element of x is above zero.
Tensor is_positive(const Tensor& x) { return greater(x, integer(0)); }

Tensors decompose(const NoAttrs&, TensorSpan in) {
  const Tensor &x = in[kX], &slope = in[kSlope];
  return {where(is_positive(x), x, slope * x)};
}

Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor &x = v.input(kX), &slope = v.input(kSlope), &dy = v.cotangent(0);
  return gradients(
      v, [&] { return where(is_positive(x), dy, slope * dy); },
      [&] { return where(is_positive(x), number(0), x * dy); });
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-2, -0.5, 3}), f32({}, {0.25})},
       .expect = {f32({-0.5, -0.125, 3})}},
      {.name = "slope_for_each_channel",
       .inputs = {f32({1, 2, 2}, {-1, 2, -3, -4}), f32({2, 1}, {0.5, 10})},
       .expect = {f32({1, 2, 2}, {-0.5, 2, -30, -40})}},
      {.name = "slope_for_each_element",
       .inputs = {f32({-1, -1, 1}), f32({2, -2, 7})},
       .expect = {f32({-2, 2, 1})}},
      {.name = "at_zero",
       .inputs = {f32({0, -0.0}), f32({0.5, 0.5})},
       .expect = {f32({0, -0.0})},
       .check_gradient = false},
      {.name = "integers", .inputs = {i32({-3, 4}), i32({2, 2})}, .expect = {i32({-6, 4})}},
      {.name = "drawn", .inputs = {uniform({2, 3, 4}), uniform({3, 1})}},
      {.name = "no_elements", .inputs = {uniform({0, 4}), uniform({4})}},
      {.name = "boolean", .inputs = {boolean({1}), boolean({1})}, .error = "C1"},
      {.name = "slope_is_larger", .inputs = {uniform({3}), uniform({2, 3})}, .error = "C2"},
      {.name = "slope_would_widen_x", .inputs = {uniform({2, 1}), uniform({3})}, .error = "C2"},
      {.name = "slope_does_not_broadcast", .inputs = {uniform({3}), uniform({2})}, .error = "C2"},
  };
}

}  // namespace

OpDef prelu_def() {
  return define<NoAttrs>({
      .name = "prelu",
      .summary = "x where x is positive, and slope * x elsewhere, with a learned slope.",
      .formula = "y = x > 0 ? x : slope * x",
      .details = "The derivative at 0 is slope.",
      .inputs = {{"x", "any numeric tensor"},
                 {"slope", "the slope below zero, broadcast to the shape of x"}},
      .outputs = {{"y", "of the type of x"}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kInputs,
      .promotes = Promotes::kAll,
      .elementwise = true,
      .numeric = Numeric::kRounded,
      .onnx = "PRelu",
  });
}

}  // namespace tenon::ops
