// erfinv: the inverse of the error function.

#include <cmath>
#include <limits>

#include "core/ops/definition/op_ids.h"
#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;
constexpr double kHalfSqrtPi = 0.886226925452758013649;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

// Evaluates a polynomial in t by Horner's rule. `first` is the coefficient of the highest power.
Tensor horner(const Tensor& t, double first, std::initializer_list<double> rest) {
  Tensor y = fill(number(first), Dims{}, t->type.dtype);
  for (const double c : rest) y = y * t + c;
  return y;
}

// A first estimate of erfinv(x). For |x| up to 1 - 1e-7 it is accurate to seven digits (M. Giles,
// "Approximating the erfinv function", 2010). For larger |x| it is the first term of the asymptotic
// series of erfc, which is accurate to two digits.
Tensor initial_estimate(const Tensor& x) {
  const Tensor rest = 1.0 - abs(x);
  const Tensor w = -log(rest * (1.0 + abs(x)));
  const Tensor near = horner(w - 2.5, 2.81022636e-08,
                             {3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                              -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  const Tensor far = horner(sqrt(w) - 3.0, -0.000200214257,
                            {0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                             -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  const Tensor tail = -log(rest);
  const Tensor last = copysign(sqrt(tail - 0.5 * log(kPi * tail)), x);
  return where(less(w, number(5)), near * x, where(less(w, number(16)), far * x, last));
}

// Improves y by one step of Halley's method, which triples the number of correct digits. For |x| >=
// 0.5 it solves erfc(|y|) = 1 - |x| instead of erf(y) = x, because 1 - |x| is exact near |x| = 1.
Tensor refine_by_halley(const Tensor& x, const Tensor& y) {
  const Tensor tail = 1.0 - abs(x) - call1(OpId::k_erfc, NoAttrs{}, {abs(y)});
  const Tensor rest = where(less(abs(x), number(0.5)), erf(y) - x, tail * sign(y));
  const Tensor step = rest / (kTwoOverSqrtPi * exp(-(y * y)));
  return y - step / (1.0 + y * step);
}

Tensors decompose(const NoAttrs&, TensorSpan in) {
  return {in_wide(in[0], [](const Tensor& given) {
    const Tensor is_inside = less(abs(given), number(1));
    const Tensor x = where(is_inside, given, number(0));
    Tensor y = initial_estimate(x);
    for (int steps = size_of(x->type.dtype) < 8 ? 1 : 3; steps > 0; --steps)
      y = refine_by_halley(x, y);
    const Tensor ends = where(equal(abs(given), number(1)), given * kInf, number(kNaN));
    return where(is_inside, where(equal(x, number(0)), given, y), ends);
  })};
}

// The derivative of erfinv at x is 1 / erf'(y).
Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor& y = v.output(0);
  return {v.cotangent(0) * (kHalfSqrtPi * exp(y * y))};
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({0.5, -0.875, 0.25})},
       .expect = {f32({0.4769362762044699, -1.0847870400692814, 0.22531205501217808})}},
      {.name = "near_one",
       .inputs = {f64({0.999, 0.9999999403953552, -0.9999999999999991})},
       .expect = {f64({2.326753765513524, 3.8325068569007104, -5.686128441310391})},
       .rtol = 1e-14,
       .atol = 0,
       .check_gradient = false},  // The slope is up to 1e14, so finite differences are meaningless.
      {.name = "near_zero",
       .inputs = {f64({1e-8, -1e-300})},
       .expect = {f64({8.86226925452758e-09, -8.86226925452758e-301})},
       .rtol = 1e-14,
       .atol = 0},
      {.name = "half", .inputs = {f16({0.5})}, .expect = {f16({0.47698974609375})}},
      {.name = "ends",
       .inputs = {f32({1, -1, 0, -0.0, 2, -kInf, kNaN})},
       .expect = {f32({kInf, -kInf, 0, -0.0, kNaN, kNaN, kNaN})},
       .check_gradient = false},
      {.name = "drawn", .inputs = {uniform({3, 5}, -0.95, 0.95)}},
      {.name = "no_elements", .inputs = {uniform({0, 3})}},
      {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

// Constraints.
//   C1  x is floating point.
//   y has the dtype and shape of x.
OpDef erfinv_def() {
  return define_unary({
      .name = "erfinv",
      .summary = "The inverse of the error function.",
      .formula = "erf(y) = x",
      .details = "Infinite at -1 and 1, NaN outside [-1, 1]. Zeros keep their sign.",
      .infer = infer_floating,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kOutputs,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
