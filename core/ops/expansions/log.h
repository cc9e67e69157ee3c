// log, log2, log10, log1p, and functions that the inverse hyperbolic functions use, too.
//
// The argument is 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2); f is exact. With s = f / (2
// + f) and z = s^2, log(1 + f) = 2 s + s z p(z). This is computed as
//   log(1 + f) = f - lost,   lost = f^2 / 2 - s (f^2 / 2 + z p(z))
//
// The exact f dominates this difference. `lost` is at most a fifth of f, so its own errors, such as
// the 2.5 ulp of the quotient s, are at most a fifth as large relative to the result. The total
// error is about 1 ulp. k ln 2 is added in two parts, of which the upper one is exact.

#pragma once

#include "core/ops/expansions/coefficients.h"
#include "core/ops/expansions/value.h"

namespace tenon::expansions {

// Represents x as 2^exponent (1 + f).
template <class V>
struct BinaryParts {
  V exponent;
  V f;
};

// Splits a positive finite x, which may be subnormal. For any other x, the result is finite but
// meaningless.
template <class V>
BinaryParts<V> binary_parts(const V& x) {
  constexpr int kBits = FormatOf<V>::kMantissaBits;
  const typename V::Bool subnormal = x < FormatOf<V>::kMinNormal;
  const V normal = where(subnormal, x * pick<V>(0x1p24, 0x1p53), x);
  const typename V::Int bits = as_int(normal);
  const int64_t kRootOfHalf = kIsFloat32<V> ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  const typename V::Int k = (bits - kRootOfHalf) >> kBits;
  const V mantissa = as_float(bits - (k << kBits));
  const V moved = where(subnormal, V(pick<V>(24, 53)), V(0.0));
  return {to_float(k) - moved, mantissa - 1.0};
}

// Returns f - log(1 + f).
template <class V>
V log_remainder(const V& f) {
  const V s = f / (2.0 + f);
  const V z = s * s;
  const V half_square = 0.5 * f * f;
  return half_square - s * (half_square + z * polynomial(z, kLog<typename V::Scalar>));
}

// Returns log(2^exponent (1 + f)) + correction. `correction` must be small relative to the
// logarithm.
template <class V>
V log_of(const BinaryParts<V>& x, const V& correction) {
  const V low = x.exponent * pick<V>(0x1.7f7d1cf79abcap-20, 0x1.ef35793c7673p-45) + correction;
  const V high = x.exponent * pick<V>(0x1.62e4p-1, 0x1.62e42fefa38p-1);
  return high - ((log_remainder(x.f) - low) - x.f);
}

// Replaces y, the result of a formula for log(x), if x is zero, negative, infinite or NaN.
template <class V>
V with_special_log_values(const V& x, const V& y) {
  const V below = where(x == 0.0, V(-kInfinity), V(kNan));
  return where(x < kInfinity, where(x > 0.0, y, below), x);
}

template <class V>
V log(const V& x) {
  return with_special_log_values(x, log_of(binary_parts(x), V(0.0)));
}

// The constants of a base b of logarithms, each in two parts. The upper parts have so few bits that
// their products are exact.
struct LogBase {
  double of_two_high, of_two_low;  // log_b(2), multiplied by an exponent.
  double of_e_high, of_e_low;      // log_b(e), multiplied by the upper half of a mantissa.
};

template <class V>
V log_in_base(const V& x, const LogBase& base) {
  const BinaryParts<V> parts = binary_parts(x);
  const V high = high_half(parts.f);
  const V low = (parts.f - high) - log_remainder(parts.f);
  const Sum<V> lead = exact_sum(parts.exponent * base.of_two_high, high * base.of_e_high);
  const V rest = low * (base.of_e_high + base.of_e_low) + high * base.of_e_low;
  const V y = lead.high + (lead.low + (rest + parts.exponent * base.of_two_low));
  return with_special_log_values(x, y);
}

template <class V>
V log2(const V& x) {
  return log_in_base(x, kIsFloat32<V> ? LogBase{1, 0, 0x1.714p+0, 0x1.47652b82fe177p-12}
                                      : LogBase{1, 0, 0x1.715476p+0, 0x1.4ae0bf85ddf44p-26});
}

template <class V>
V log10(const V& x) {
  return log_in_base(x, kIsFloat32<V> ? LogBase{0x1.344p-2, 0x1.3509f79fef312p-18, 0x1.bcap-2,
                                                0x1.7b1526e50e32ap-14}
                                      : LogBase{0x1.34413509f78p-2, 0x1.fef311f12b358p-46,
                                                0x1.bcb7b1p-2, 0x1.49b9438ca9aaep-28});
}

// Returns log(1 + x) + times_two ln 2. The rounding error of u = 1 + x, divided by u, is added as a
// correction. Near zero, where u has the exponent 0, the formula uses x itself instead of u - 1.
template <class V>
V shifted_log1p(const V& x, const V& times_two) {
  const V u = 1.0 + x;
  BinaryParts<V> parts = binary_parts(u);
  const typename V::Bool near_zero = parts.exponent == 0.0;
  const V error = where(x > 1.0, 1.0 - (u - x), x - (u - 1.0));
  const V correction = where(near_zero, V(0.0), error / u);
  parts = {parts.exponent + times_two, where(near_zero, x, parts.f)};
  const V y = with_special_log_values(u, log_of(parts, correction));
  return where(abs(x) < FormatOf<V>::kTiny, x, y);
}

template <class V>
V log1p(const V& x) {
  return shifted_log1p(x, V(0.0));
}

}  // namespace tenon::expansions
