// Elementwise ops of one input: cbrt, and special functions such as erf and lgamma.
//
// Constraints of all of them:
//   C1  x is floating point.
//   y has x's dtype and shape.

#include <limits>

#include "core/ops/definition/expansion_value.h"
#include "core/ops/definition/type_rules.h"
#include "core/ops/expansions/erf.h"
#include "core/ops/expansions/gamma.h"
#include "core/ops/expansions/root.h"

namespace tenon::ops {
namespace {

using None = NoAttrs;

constexpr double kTwoOverSqrtPi = 1.128379167095512573896;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Defines a special function after setting the fields that all of these ops share.
OpDef define_special(Definition<NoAttrs> d) {
  d.infer = infer_floating;
  d.numeric = Numeric::kTranscendental;
  return define_unary(std::move(d));
}

// Returns the cases of one op, followed by the cases that all of these ops share.
Cases<None> with_shared_cases(Cases<None> cases) {
  cases.push_back({.name = "no_elements", .inputs = {uniform({0, 3})}});
  cases.push_back({.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"});
  return cases;
}

// A relative tolerance for subnormal results, which an absolute tolerance could not distinguish
// from zero.
constexpr double kRelative = 0x1p-20;

// The derivative is infinite at 0, like that of sqrt.
Tensors cbrt_vjp(const None&, const VjpArgs& v) {
  const Tensor& y = v.output(0);
  return {v.cotangent(0) / (3.0 * (y * y))};
}

}  // namespace

OpDef cbrt_def() {
  return define_special({
      .name = "cbrt",
      .summary = "The cube root of each element.",
      .formula = "y = sign(x) * |x|^(1/3)",
      .details = "Zeros and infinities keep their sign.",
      .vjp = cbrt_vjp,
      .decompose = TENON_EXPAND_UNARY(cbrt),
      .cases =
          [] {
            return with_shared_cases({
                {.name = "example",
                 .inputs = {f32({8, -27, 0.125, 2})},
                 .expect = {f32({2, -3, 0.5, 1.2599210498948732})}},
                {.name = "far_out",
                 .inputs = {f64({1e300, -1e-300})},
                 .expect = {f64({1e100, -1e-100})},
                 .rtol = 1e-15,
                 .atol = 0,
                 // At a slope of 1e200, finite differences have no correct digits.
                 .check_gradient = false},
                {.name = "subnormal",
                 .inputs = {f32({0x1p-147, -0x1p-144})},
                 .expect = {f32({0x1p-49, -0x1p-48})},
                 .rtol = kRelative,
                 .atol = 0,
                 .check_gradient = false},
                {.name = "ends",
                 .inputs = {f32({0, -0.0, kInf, -kInf, kNaN})},
                 .expect = {f32({0, -0.0, kInf, -kInf, kNaN})},
                 .check_gradient = false},
            });
          },
      .saves = Saves::kOutputs,
  });
}

OpDef erfc_def() {
  return define_special({
      .name = "erfc",
      .summary =
          "One minus the error function of each element, accurate where the result is small.",
      .formula = "y = 2 / sqrt(pi) * integral of e^(-t^2) for t from x to infinity",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor& x = v.input(0);
        return {v.cotangent(0) * (-kTwoOverSqrtPi * exp(-(x * x)))};
      },
      .decompose = TENON_EXPAND_UNARY(erfc),
      .cases =
          [] {
            return with_shared_cases({
                {.name = "example",
                 .inputs = {f32({0, 1, -0.5})},
                 .expect = {f32({1, 0.15729920705028516, 1.5204998778130465})}},
                {.name = "far_out_keeps_its_digits",
                 .inputs = {f32({3, 6, 8.5, -6})},
                 .expect = {f32(
                     {2.2090496998585445e-05, 2.1519736712498913e-17, 2.7623240713337712e-33, 2})},
                 .rtol = kRelative,
                 .atol = 0},
                {.name = "ends",
                 .inputs = {f32({kInf, -kInf, kNaN})},
                 .expect = {f32({0, 2, kNaN})},
                 .check_gradient = false},
                {.name = "drawn", .inputs = {uniform({3, 5}, -3, 3)}},
            });
          },
      .saves = Saves::kInputs,
  });
}

OpDef lgamma_def() {
  return define_special({
      .name = "lgamma",
      .summary = "The natural logarithm of the absolute value of the gamma function.",
      .formula = "y = ln |gamma(x)|",
      .details = "The result is infinite at 0, at negative integers and at both infinities. Near 1 "
                 "and 2, where it is 0, results keep their relative accuracy; near the zeros below "
                 "-2 the error is a few units in the last place of lgamma(-x).",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) * digamma(v.input(0))};
      },
      .decompose = TENON_EXPAND_UNARY(lgamma),
      .cases =
          [] {
            return with_shared_cases({
                {.name = "example",
                 .inputs = {f32({1, 2, 3, 0.5, 10, 100})},
                 .expect = {f32({0, 0, 0.6931471805599453, 0.5723649429247001, 12.801827480081469,
                                 359.1342053695754})}},
                {.name = "near_its_positive_zeros",
                 .inputs = {f32({1 + 0x1p-10, 2 - 0x1p-10})},
                 .expect = {f32({-0.0005629031799912046, -0.0004125677359714894})},
                 .rtol = kRelative,
                 .atol = 0},
                {.name = "below_zero",
                 .inputs = {f32({-0.5, -1.5, -2.5, -2.4375})},
                 .expect = {f32({1.2655121234846454, 0.860047015376481, -0.05624371649767405,
                                 0.031455617127479449})}},
                {.name = "poles_and_ends",
                 .inputs = {f32({0, -0.0, -1, -30, kInf, -kInf, kNaN})},
                 .expect = {f32({kInf, kInf, kInf, kInf, kInf, kInf, kNaN})},
                 .check_gradient = false},
                {.name = "drawn", .inputs = {uniform({3, 5}, 0.5, 6)}},
            });
          },
      .saves = Saves::kInputs,
  });
}

OpDef digamma_def() {
  return define_special({
      .name = "digamma",
      .summary = "The derivative of lgamma.",
      .formula = "y = gamma'(x) / gamma(x)",
      .details = "The result is -infinity at 0, infinity at -0, and NaN at negative integers. Near "
                 "the positive zero of the function results keep their relative accuracy; near the "
                 "negative ones the error is a few units in the last place of ln |x| + pi.",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) * trigamma(v.input(0))};
      },
      .decompose = TENON_EXPAND_UNARY(digamma),
      .cases =
          [] {
            return with_shared_cases({
                {.name = "example",
                 .inputs = {f32({1, 2, 0.5, 10})},
                 .expect = {f32({-0.5772156649015329, 0.42278433509846714, -1.9635100260214235,
                                 2.251752589066721})}},
                {.name = "near_its_positive_zero",
                 .inputs = {f32({1.46163213253021240234375})},
                 .expect = {f32({-1.203605254910667e-8})},
                 .rtol = kRelative,
                 .atol = 0},
                {.name = "below_zero",
                 .inputs = {f32({-0.5, -1.25})},
                 .expect = {f32({0.03648997397857652, 3.7141391202135283})}},
                {.name = "poles_and_ends",
                 .inputs = {f32({0, -0.0, -1, kInf, -kInf, kNaN})},
                 .expect = {f32({-kInf, kInf, kNaN, kInf, kNaN, kNaN})},
                 .check_gradient = false},
                {.name = "drawn", .inputs = {uniform({3, 5}, 0.5, 6)}},
            });
          },
      .saves = Saves::kInputs,
  });
}

// No op computes the derivative of trigamma, so it is obtained by differentiating the expansion.
OpDef trigamma_def() {
  return define_special({
      .name = "trigamma",
      .summary = "The derivative of digamma.",
      .formula = "y = sum(1 / (x + k)^2 for k from 0)",
      .details = "The result is infinite at 0 and at negative integers. The derivative is that of "
                 "an approximating polynomial and has about 5 accurate digits in float32.",
      .decompose = TENON_EXPAND_UNARY(trigamma),
      .cases =
          [] {
            return with_shared_cases({
                {.name = "example",
                 .inputs = {f32({2, 0.5, 10})},
                 .expect = {f32({0.6449340668482264, 4.934802200544679, 0.10516633568168575})}},
                // Two formulas meet at 1. Their slopes agree only up to rounding, so finite
                // differences are not checked here.
                {.name = "one",
                 .inputs = {f32({1})},
                 .expect = {f32({1.6449340668482264})},
                 .check_gradient = false},
                {.name = "below_zero",
                 .inputs = {f32({-0.5, -1.25})},
                 .expect = {f32({8.934802200544679, 19.181879647671606})}},
                {.name = "poles_and_ends",
                 .inputs = {f32({0, -0.0, -1, kInf, -kInf, kNaN})},
                 .expect = {f32({kInf, kInf, kInf, 0, kInf, kNaN})},
                 .check_gradient = false},
                {.name = "drawn", .inputs = {uniform({3, 5}, 0.5, 6)}},
            });
          },
  });
}

}  // namespace tenon::ops
