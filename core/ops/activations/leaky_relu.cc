// leaky_relu: x above zero, and alpha * x below zero.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double alpha = 0.01;  // The slope below zero.
  TENON_ATTRS(alpha)
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
  return {where(greater(x, number(0)), x, attrs.alpha * x)};
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor& dy = v.cotangent(0);
  return {where(greater(v.input(0), number(0)), dy, attrs.alpha * dy)};
}

Cases<Attrs> cases() {
  return {
      {.name = "example", .inputs = {f32({-2, -0.5, 3})}, .expect = {f32({-0.02, -0.005, 3})}},
      {.name = "alpha",
       .attrs = {.alpha = 0.25},
       .inputs = {f32({-2, -0.5, 0, 3})},
       .expect = {f32({-0.5, -0.125, 0, 3})},
       .check_gradient = false},
      {.name = "negative_alpha",
       .attrs = {.alpha = -1},
       .inputs = {f32({-2, 3})},
       .expect = {f32({2, 3})}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef leaky_relu_def() {
  return define<Attrs>({
      .name = "leaky_relu",
      .summary = "x where x is positive, and alpha * x elsewhere.",
      .formula = "y = x > 0 ? x : alpha * x",
      .details = "The derivative at 0 is alpha.",
      .inputs = {{"x", "any floating tensor"}},
      .outputs = {{"y", "of the type of x"}},
      .attrs_doc = {{"alpha", "The slope below zero."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kFirstInput,
      .elementwise = true,
      .numeric = Numeric::kRounded,
      .onnx = "LeakyRelu",
  });
}

}  // namespace tenon::ops
