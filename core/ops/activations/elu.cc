// elu: x above zero, and an exponential that tends to -alpha below zero.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double alpha = 1;  // elu(x) tends to -alpha as x tends to minus infinity.
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
  return {where(greater(x, number(0)), x, attrs.alpha * expm1(x))};
}

// For positive x, where() discards the exponential. minimum() keeps it finite there. Otherwise,
// second derivatives would compute 0 * infinity for positive x.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor &x = v.input(0), &dy = v.cotangent(0);
  const Tensor slope = attrs.alpha * exp(minimum(x, number(0)));
  return {where(greater(x, number(0)), dy, dy * slope)};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-1, 0.5, 2})},
       .expect = {f32({-0.6321205588285577, 0.5, 2})}},
      {.name = "alpha",
       .attrs = {.alpha = 0.5},
       .inputs = {f32({-1, 1})},
       .expect = {f32({-0.3160602794142788, 1})}},
      {.name = "large_values_do_not_overflow",
       .inputs = {f32({-1000, 1000})},
       .expect = {f32({-1, 1000})}},
      {.name = "small_values_keep_their_digits",
       .inputs = {f32({-1e-6})},
       .expect = {f32({-9.999995000001667e-7})},
       .check_gradient = false},  // Finite differences at this input would cross the kink at 0.
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef elu_def() {
  return define<Attrs>({
      .name = "elu",
      .summary = "The exponential linear unit: x above zero, an exponential toward -alpha below.",
      .formula = "y = x > 0 ? x : alpha * (exp(x) - 1)",
      .details = "The derivative at 0 is alpha.",
      .inputs = {{"x", "the input, floating point"}},
      .outputs = {{"y", "the result, of the type of x"}},
      .attrs_doc = {{"alpha", "The function tends to -alpha far below zero."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kFirstInput,
      .elementwise = true,
      .numeric = Numeric::kTranscendental,
      .onnx = "Elu",
  });
}

}  // namespace tenon::ops
