// gelu: x times the cumulative distribution function of the standard normal distribution at x.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  bool approximate = false;  // Whether to use the tanh approximation instead of erf.
  TENON_ATTRS(approximate)
};

constexpr double kSqrtHalf = 0.70710678118654752440;       // sqrt(1 / 2)
constexpr double kDensityAtZero = 0.39894228040143267794;  // 1 / sqrt(2 pi)
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;  // sqrt(2 / pi)
// Coefficient of the published tanh approximation.
constexpr double kCubic = 0.044715;

// Constraints.
//   C1  x is floating point.
//   C2  type(y) = type(x).
TensorTypes infer(const Attrs&, TypeSpan in) {
  require(is_floating(in[0].dtype), "C1: x must be floating point, but is {}", in[0].dtype);
  return {in[0]};  // C2
}

// The standard normal distribution function P(X <= x).
Tensor normal_cdf(const Tensor& x) { return 0.5 * (1.0 + erf(kSqrtHalf * x)); }
// The tanh term of the published approximation: P(X <= x) is about 0.5 * (1 + tanh_form(x)).
Tensor tanh_form(const Tensor& x) { return tanh(kSqrtTwoOverPi * (x + kCubic * (x * x * x))); }

// Clamps x to [-16, 16], so that no power of x overflows. Outside this range, tanh_form(x) is -1 or
// 1 in every dtype.
Tensor clamp_for_tanh(const Tensor& x) { return clip(x, number(-16), number(16)); }

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor& x = in[0];
  return {x * (attrs.approximate ? 0.5 * (1.0 + tanh_form(clamp_for_tanh(x))) : normal_cdf(x))};
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor &x = v.input(0), &dy = v.cotangent(0);
  if (attrs.approximate) {
    const Tensor n = clamp_for_tanh(x), t = tanh_form(n);
    const Tensor inner = kSqrtTwoOverPi * (1.0 + (3 * kCubic) * (n * n));
    return {dy * (0.5 * (1.0 + t) + 0.5 * n * (1.0 - t * t) * inner)};
  }
  const Tensor density = kDensityAtZero * exp(-0.5 * (x * x));
  return {dy * (normal_cdf(x) + x * density)};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-1, 0, 1, 2})},
       .expect = {f32({-0.15865525393145707, 0, 0.8413447460685429, 1.9544997361036416})}},
      {.name = "approximate",
       .attrs = {.approximate = true},
       .inputs = {f32({-1, 0, 1, 2})},
       .expect = {f32({-0.15880800939172324, 0, 0.8411919906082768, 1.954597694087775})}},
      {.name = "far_out", .inputs = {f32({-100, 100})}, .expect = {f32({0, 100})}},
      {.name = "far_out_approximate",
       .attrs = {.approximate = true},
       .inputs = {f32({-100, 100})},
       .expect = {f32({0, 100})}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef gelu_def() {
  return define<Attrs>({
      .name = "gelu",
      .summary =
          "The Gaussian error linear unit: x times the standard normal distribution function at x.",
      .formula = "y = x * (1 + erf(x / sqrt(2))) / 2, or approximately "
                 "x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2",
      .inputs = {{"x", "any floating tensor"}},
      .outputs = {{"y", "of the type of x"}},
      .attrs_doc = {{"approximate", "Whether to use the tanh approximation instead of erf."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kFirstInput,
      .elementwise = true,
      .numeric = Numeric::kTranscendental,
      .onnx = "Gelu",
  });
}

}  // namespace tenon::ops
