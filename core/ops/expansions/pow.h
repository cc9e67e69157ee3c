// pow.
//
// |x|^y = 2^(y log2 |x|). The exponent has up to 7 bits before the point (float64: 10), so log2 |x|
// needs at least 11 bits more than V has. With f and s as in log.h,
//
//   log(1 + f) = 2/3 s (3 + z + z^2 p(z)),   z = s^2
//
// s, the sum in parentheses, log2 and its product with y are each stored as the upper half of a
// mantissa and a remainder. Products of upper halves are exact. The remainders make the values
// accurate to 11 more bits than V has (float64: 25). exp2 of the product adds about 1 ulp,
// including the error of the exponent.

#pragma once

#include "core/ops/expansions/coefficients.h"
#include "core/ops/expansions/log.h"
#include "core/ops/expansions/value.h"

namespace tenon::expansions {

// Computes log2 of a positive finite x in two parts. The upper part has only the upper half of the
// mantissa's bits.
template <class V>
Sum<V> precise_log2(const V& x) {
  const BinaryParts<V> parts = binary_parts(x);
  const V f = parts.f;

  // s = f / (2 + f). The remainder of the division, after multiplying by the upper half of s, gives
  // the lower part of s.
  const V divisor = 2.0 + f;
  const V divisor_high = high_half(divisor);
  const V divisor_low = (divisor - divisor_high) + (f - (divisor - 2.0));
  const V s = f / divisor;
  const V s_high = high_half(s);
  const V s_low = ((f - s_high * divisor_high) - s_high * divisor_low) / divisor;

  // bracket = 3 + z + z^2 p(z), where z = s_high^2 + s_low (s_high + s). s_high^2 is exact.
  const V z = s * s, square = s_high * s_high;
  const V rest = z * (z * polynomial(z, kLogTail<typename V::Scalar>)) + s_low * (s_high + s);
  const V bracket_high = high_half(3.0 + (square + rest));
  const V bracket_low = rest - ((bracket_high - 3.0) - square);

  const V lead = s_high * bracket_high;
  const V trail = s_low * bracket_high + bracket_low * s;
  const V product_high = high_half(lead + trail);
  const V product_low = trail - (product_high - lead);

  // Multiply by 2 / (3 ln 2), and add the exponent of x.
  const double kScaleHigh = pick<V>(0x1.ec6p-1, 0x1.ec709d8p-1);
  const double kScaleLow = pick<V>(0x1.09dc3a03fd74ap-13, 0x1.0e80ff5d27f05p-27);
  const V log_lead = product_high * kScaleHigh;
  const V log_trail = product_high * kScaleLow + product_low * (kScaleHigh + kScaleLow);
  const V high = high_half(parts.exponent + (log_lead + log_trail));
  return {high, log_trail - ((high - parts.exponent) - log_lead)};
}

// Computes |x|^y for a positive finite |x|. y is clamped so that its product with the logarithm
// cannot overflow. At the bounds, every power except that of 1 is already zero or infinite, so
// clamping changes no result.
template <class V>
V power_of_magnitude(const V& magnitude, const V& y) {
  const double kLargestY = pick<V>(0x1p32, 0x1p65);
  const V bounded = clamp(y, -kLargestY, kLargestY);
  const Sum<V> log = precise_log2(magnitude);
  const V y_high = high_half(bounded);
  const V lead = y_high * log.high;
  const V trail = (bounded - y_high) * log.high + bounded * log.low;

  const V limited = clamp(lead, pick<V>(-200, -1200), pick<V>(140, 1100));
  const V rest = where(limited == lead, trail, V(0.0));
  const V n = round(limited + rest);
  const V r = (limited - n) + rest;
  return scale(1.0 + r * polynomial(r, kExp2<typename V::Scalar>), to_int(n));
}

// Applies the special cases of C99: the result is 1 if x is 1 or y is 0, even if the other one is
// NaN. Otherwise, NaN propagates. Zero and infinite x give zero or infinity. A finite x < 0 gives
// NaN unless y is an integer, and the sign of x if y is odd.
template <class V>
V pow(const V& x, const V& y) {
  const V a = abs(x);
  const auto is_negative_y = y < 0.0;
  const V of_zero = where(is_negative_y, V(kInfinity), V(0.0));
  const V of_infinity = where(is_negative_y, V(0.0), V(kInfinity));
  V power = power_of_magnitude(a, y);
  power = where(a == 0.0, of_zero, where(a == kInfinity, of_infinity, power));

  const V half_y = 0.5 * y;
  const auto is_whole = round(y) == y;  // Infinities count as even integers.
  const auto is_odd = is_whole & (round(half_y) != half_y);
  power = where(is_odd, with_sign_of(x, power), power);

  const auto is_undefined = (x < 0.0) & (a < kInfinity) & !is_whole & (x == x);
  const auto has_nan = (x != x) | (y != y);
  power = where(is_undefined | has_nan, V(kNan), power);
  return where((x == 1.0) | (y == 0.0), V(1.0), power);
}

}  // namespace tenon::expansions
