// lgamma, digamma and trigamma.
//
// Each has a formula for a >= 1: up to 4 a polynomial in t = (a - 2) / (a + 2), a variable in which
// the pole at 0 is far away, and from there on Stirling's series. Below 1 the result follows from
// the value at a = 1 + |x| and a term that contains the pole: by the recurrence for positive x, by
// reflection for negative x.
//
// Each zero at a positive x is a separate factor, which keeps the relative accuracy near it. Near
// the zeros at negative x two terms cancel, and the result is accurate to a few ulp of those terms.

#pragma once

#include "core/ops/expansions/coefficients.h"
#include "core/ops/expansions/log.h"
#include "core/ops/expansions/value.h"

namespace tenon::expansions {

inline constexpr double kPolynomialEnd = 4;

// The polynomial's variable. Beyond the polynomial's range it is any finite number.
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

// For negative x, x minus the nearest whole number, which is exact; for other x, some number but 0.
template <class V>
V offset_from_pole(const V& x) {
  return where(x < 0.0, x - round(x), V(0.25));
}

template <class V>
typename V::Bool is_negative_and_whole(const V& x) {
  return (x < 0.0) & (round(x) == x);
}

// The logarithm of |gamma(x)|. The recurrence subtracts log(x); reflection gives
// -lgamma(1 + |x|) - log(|sin(pi x)| / pi).
template <class V>
V lgamma(const V& x) {
  using Scalar = typename V::Scalar;
  const double kConstant = 0x1.acfe390c97d69p-2;  // (log(2 pi) - 1) / 2
  const V magnitude = abs(x);
  const typename V::Bool is_below_one = x < 1.0;
  const V a = where(is_below_one, 1.0 + magnitude, x);

  const V zeros = where(is_below_one, magnitude * (magnitude - 1.0), (x - 1.0) * (x - 2.0));
  // Adding 0 turns negative zeros into positive ones.
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

// The derivative of lgamma. Its positive zero is subtracted in two parts. The recurrence subtracts
// 1 / x, and reflection pi cot(pi x), where the cosine is the sine of the complementary angle.
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

// The derivative of digamma. The recurrence adds 1 / x^2; reflection subtracts from
// (pi / sin(pi x))^2. A Newton step makes the reciprocal accurate enough to be squared. No
// operation works on bits, and no quotient in a branch not taken is infinite. So differentiating
// the formula gives the derivative of the function.
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
