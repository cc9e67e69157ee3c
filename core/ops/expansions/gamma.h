// lgamma, digamma and trigamma.
//
// For a >= 1, each function has two formulas: up to 4 a polynomial in t = (a - 2) / (a + 2), which
// moves the pole at 0 away from the range of t, and from 4 on Stirling's series. For x < 1, the
// result is computed from the value at a = 1 + |x| and a term with the pole at 0: by the recurrence
// for positive x, by the reflection formula for negative x.
//
// Zeros at positive x are separate factors, so that the relative error stays small near them. Near
// zeros at negative x, two terms cancel, and the error is a few ulp of these terms.

#pragma once

#include "core/ops/expansions/coefficients.h"
#include "core/ops/expansions/log.h"
#include "core/ops/expansions/value.h"

namespace tenon::expansions {

inline constexpr double kPolynomialEnd = 4;

// The variable t of the polynomial. For a >= 4, where the polynomial is not used, t is finite but
// meaningless.
template <class V>
V gamma_variable(const V& a) {
  const V inside = where(a < kPolynomialEnd, a, V(kPolynomialEnd));
  return (inside - 2.0) / (inside + 2.0);
}

// sin(pi r) / pi for |r| <= 1/2.
template <class V>
V sin_pi_over_pi(const V& r) {
  const V z = r * r;
  return r + r * (z * polynomial(z, kSinPi<typename V::Scalar>));
}

// For negative x, returns x minus the nearest integer, which is exact. For other x, returns an
// arbitrary nonzero number.
template <class V>
V offset_from_pole(const V& x) {
  return where(x < 0.0, x - round(x), V(0.25));
}

template <class V>
typename V::Bool is_negative_and_whole(const V& x) {
  return (x < 0.0) & (round(x) == x);
}

// The logarithm of |gamma(x)|. For 0 < x < 1, the recurrence subtracts log(x). For x < 0, the
// reflection formula gives -lgamma(1 + |x|) - log(|sin(pi x)| / pi).
template <class V>
V lgamma(const V& x) {
  using Scalar = typename V::Scalar;
  const double kConstant = 0x1.acfe390c97d69p-2;  // (log(2 pi) - 1) / 2
  const V magnitude = abs(x);
  const typename V::Bool is_below_one = x < 1.0;
  const V a = where(is_below_one, 1.0 + magnitude, x);

  const V zeros = where(is_below_one, magnitude * (magnitude - 1.0), (x - 1.0) * (x - 2.0));
  // Adding 0 turns -0 into +0.
  const V inner = 0.0 + zeros * polynomial(gamma_variable(a), kLgamma<Scalar>);
  const V inverse = 1.0 / a;
  const V series = kConstant + inverse * polynomial(inverse * inverse, kStirling<Scalar>);
  const V outer = (a - 0.5) * (expansions::log(a) - 1.0) + series;
  const V of_a = where(a < kPolynomialEnd, inner, outer);

  const V sine = abs(sin_pi_over_pi(offset_from_pole(x)));
  const V pole = expansions::log(where(x < 0.0, sine, x));
  const V below_one = where(x < 0.0, -of_a, of_a) - pole;
  const V y = where(is_below_one, below_one, of_a);
  return where(is_negative_and_whole(x), V(kInfinity), y);
}

// The derivative of lgamma. Its positive zero is subtracted from a in two parts, to keep the
// relative accuracy near it. The recurrence subtracts 1 / x. The reflection formula subtracts pi
// cot(pi x), where the cosine is computed as sin(pi (1/2 - |offset|)).
template <class V>
V digamma(const V& x) {
  using Scalar = typename V::Scalar;
  const double kRootHigh = pick<V>(0x1.762d86p+0, 0x1.762d86356be3fp+0);
  const double kRootLow = pick<V>(0x1.ab5f1fb70d4e4p-27, 0x1.b86a722197829p-54);
  const typename V::Bool is_below_one = x < 1.0;
  const V a = where(is_below_one, 1.0 + abs(x), x);

  const V from_root = (a - kRootHigh) - kRootLow;
  const V inner = from_root * polynomial(gamma_variable(a), kDigamma<Scalar>);
  const V inverse = 1.0 / a, square = inverse * inverse;
  const V series = 0.5 * inverse + square * polynomial(square, kDigammaTail<Scalar>);
  const V of_a = where(a < kPolynomialEnd, inner, expansions::log(a) - series);

  const V offset = offset_from_pole(x);
  const V cosine = sin_pi_over_pi(0.5 - abs(offset));
  const V cotangent = 0x1.921fb54442d18p+1 * cosine / sin_pi_over_pi(offset);
  const V y = where(is_below_one, of_a - where(x < 0.0, cotangent, 1.0 / x), of_a);
  return where(is_negative_and_whole(x), V(kNan), y);
}

// The derivative of digamma. The recurrence adds 1 / x^2; the reflection formula subtracts from (pi
// / sin(pi x))^2. A Newton step makes the reciprocal accurate enough to be squared. The formula
// uses no bit operations, and branches that `where` discards contain no infinite quotients, so it
// can be differentiated.
template <class V>
V trigamma(const V& x) {
  using Scalar = typename V::Scalar;
  const typename V::Bool is_below_one = x < 1.0;
  const V a = where(is_below_one, 1.0 + abs(x), x);

  const V inverse = 1.0 / a;
  const V inner = inverse * polynomial(gamma_variable(a), kTrigamma<Scalar>);
  const V series = 0.5 + inverse * polynomial(inverse * inverse, kTrigammaTail<Scalar>);
  const V of_a = where(a < kPolynomialEnd, inner, inverse * (1.0 + inverse * series));

  const V sine = sin_pi_over_pi(offset_from_pole(x));
  const V distance = where(x < 0.0, sine, x);
  const V rough = 1.0 / distance;
  const V pole = where(abs(rough) < kInfinity, rough + rough * (1.0 - rough * distance), rough);
  const V below_one = pole * pole + where(x < 0.0, -of_a, of_a);
  const V y = where(is_below_one, below_one, of_a);
  return where(is_negative_and_whole(x), V(kInfinity), y);
}

}  // namespace tenon::expansions
