// selu: the scaled exponential linear unit. Its constants preserve a mean of 0 and a variance of 1
// from layer to layer.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  // selu(x) tends to -gamma * alpha as x tends to -infinity.
  double alpha = 1.67326319217681884765625;
  double gamma = 1.05070102214813232421875;  // The slope above zero.
  TENON_ATTRS(alpha, gamma)
};

// Constraints.
//   C1  x is floating point.
//   C2  type(y) = type(x).
TensorTypes infer(const Attrs&, TypeSpan in) {
  require(is_floating(in[0].dtype), "C1: x must be floating point, but is {}", in[0].dtype);
  return {in[0]};  // C2
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor& x = in[0];
  const Tensor below = (attrs.gamma * attrs.alpha) * expm1(x);
  return {where(greater(x, number(0)), attrs.gamma * x, below)};
}

// For positive x, where() discards the exponential, and minimum() keeps it finite.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor &x = v.input(0), &dy = v.cotangent(0);
  const Tensor slope = (attrs.gamma * attrs.alpha) * exp(minimum(x, number(0)));
  return {where(greater(x, number(0)), attrs.gamma * dy, slope * dy)};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-1, 0.5, 2})},
       .expect = {f32({-1.1113307412864784, 0.5253505110740662, 2.1014020442962646})}},
      {.name = "alpha",
       .attrs = {.alpha = 2, .gamma = 1},
       .inputs = {f32({-1, 3})},
       .expect = {f32({-1.2642411176571153, 3})}},
      {.name = "gamma",
       .attrs = {.alpha = 1, .gamma = 3},
       .inputs = {f32({-1, 3})},
       .expect = {f32({-1.896361676485673, 9})}},
      {.name = "large_values_do_not_overflow",
       .attrs = {.alpha = 1, .gamma = 2},
       .inputs = {f32({-1000, 1000})},
       .expect = {f32({-2, 2000})}},
      {.name = "drawn", .inputs = {uniform({3, 5}, -3, 3)}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef selu_def() {
  return define<Attrs>({
      .name = "selu",
      .summary = "The scaled exponential linear unit, which preserves mean and variance from layer "
                 "to layer.",
      .formula = "y = gamma * (x > 0 ? x : alpha * (exp(x) - 1))",
      .details = "The derivative at 0 is gamma * alpha.",
      .inputs = {{"x", "a floating-point tensor"}},
      .outputs = {{"y", "the result, with the shape and dtype of x"}},
      .attrs_doc = {{"alpha",
                     "The factor of the exponential; far below zero, y tends to -gamma * alpha."},
                    {"gamma", "The slope above zero."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kFirstInput,
      .elementwise = true,
      .numeric = Numeric::kTranscendental,
      .onnx = "Selu",
  });
}

}  // namespace tenon::ops
