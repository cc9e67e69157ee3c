// celu: a variant of elu whose slope approaches 1 on both sides of 0 for every alpha.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double alpha = 1;  // celu(x) tends to -alpha as x tends to minus infinity.
  TENON_ATTRS(alpha)
};

// Constraints.
//   C1  x is floating point.
//   C2  alpha is positive.
//   C3  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require(is_floating(in[0].dtype), "C1: x must be floating point, but is {}", in[0].dtype);
  require(attrs.alpha > 0, "C2: alpha must be positive, but is {}", attrs.alpha);
  return {in[0]};  // C3
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor& x = in[0];
  return {where(greater(x, number(0)), x, attrs.alpha * expm1(x / attrs.alpha))};
}

// Where x > 0, the exponent is clamped to 0, so that the slope is exp(0) = 1.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  return {v.cotangent(0) * exp(minimum(v.input(0), number(0)) / attrs.alpha)};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-1, 0.5, 2})},
       .expect = {f32({-0.6321205588285577, 0.5, 2})}},
      {.name = "alpha",
       .attrs = {.alpha = 2},
       .inputs = {f32({-1, 1})},
       .expect = {f32({-0.7869386805747332, 1})}},
      {.name = "far_out",
       .attrs = {.alpha = 3},
       .inputs = {f32({-1000, 1000})},
       .expect = {f32({-3, 1000})}},
      {.name = "drawn", .attrs = {.alpha = 0.75}, .inputs = {uniform({3, 5}, -3, 3)}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
      {.name = "no_alpha", .attrs = {.alpha = 0}, .inputs = {f32({1})}, .error = "C2"},
  };
}

}  // namespace

OpDef celu_def() {
  return define<Attrs>({
      .name = "celu",
      .summary =
          "The continuously differentiable ELU: its slope is 1 on both sides of 0 for every alpha.",
      .formula = "y = x > 0 ? x : alpha * (exp(x / alpha) - 1)",
      .details = "The derivative at 0 is 1.",
      .inputs = {{"x", "the input, floating point"}},
      .outputs = {{"y", "the result, of the type of x"}},
      .attrs_doc = {{"alpha", "The function tends to -alpha far below zero; must be positive."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kFirstInput,
      .elementwise = true,
      .numeric = Numeric::kTranscendental,
      .onnx = "Celu",
  });
}

}  // namespace tenon::ops
