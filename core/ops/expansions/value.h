// The operations that a value type V must provide for expansions, and exact algorithms that several
// expansions share.
//
// An expansion is a formula over V without branches. The same source therefore runs on a single
// number (scalar_value.h), on a SIMD register, or op by op on tensors. V provides
//
//   V::Scalar             float or double; selects the constants.
//   V::Int, V::UInt       integers with the width of Scalar; overflow wraps.
//   V::Bool               a mask, with & | !
//   V(double), V::Int(int64_t), V::UInt(uint64_t)   constants, by implicit conversion.
//   V       + - * / unary -   == != < <= > >=   abs  sqrt  round (ties to even)
//   V::Int  + - & | ^ << >> (arithmetic)   <
//   V::UInt + - * & | ^ << >> (logical)    !=
//   where(Bool, a, b)     for V and V::UInt; the value not selected may be anything, even NaN.
//   as_int(V), as_float(V::Int), as_uint(V::Int), as_int(V::UInt)   the same bits.
//   to_float(V::Int); to_int(V), exact for integers in range, else any value, without a trap.
//
// Shift counts are int constants, or a V::UInt less than the width. Each operation rounds to
// Scalar, and nothing is fused. Division and square root may have errors of up to 2.5 ulp. Where
// that is too inaccurate, an expansion corrects the result with exact products: the product of two
// mantissa halves (high_half) is exact.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tenon::expansions {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The layout of a floating-point format. kHalfMask selects the upper half of the mantissa.
template <class Scalar>
struct Format;

template <>
struct Format<float> {
  static constexpr int kMantissaBits = 23;
  static constexpr int kBias = 127;
  static constexpr int64_t kSignBit = INT32_MIN;
  static constexpr int64_t kHalfMask = -(int64_t{1} << 12);
  static constexpr double kMinNormal = 0x1p-126;
  static constexpr double kTiny = 0x1p-25;  // If |x| < kTiny, x^2 is negligible relative to x.
};

template <>
struct Format<double> {
  static constexpr int kMantissaBits = 52;
  static constexpr int kBias = 1023;
  static constexpr int64_t kSignBit = INT64_MIN;
  static constexpr int64_t kHalfMask = -(int64_t{1} << 27);
  static constexpr double kMinNormal = 0x1p-1022;
  static constexpr double kTiny = 0x1p-54;
};

template <class V>
using FormatOf = Format<typename V::Scalar>;

template <class V>
inline constexpr bool kIsFloat32 = FormatOf<V>::kMantissaBits == 23;

// Selects the constant for the format of V.
template <class V>
constexpr double pick(double for_float, double for_double) {
  return kIsFloat32<V> ? for_float : for_double;
}

// Evaluates a polynomial by Horner's rule; `coefficients` begin with the constant term.
template <class V, size_t N>
V polynomial(const V& x, const std::array<double, N>& coefficients) {
  V sum = coefficients[N - 1];
  for (size_t i = N - 1; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

// A value in two parts: the rounded value, and its rounding error.
template <class V>
struct Sum {
  V high, low;
};

// Pi / 2 in two parts.
template <class V>
Sum<V> half_pi() {
  return {V(pick<V>(0x1.921fb4p+0, 0x1.921fb54442d18p+0)),
          V(pick<V>(0x1.4442d18469899p-24, 0x1.1a62633145c07p-54))};
}

// Returns a + b and its exact rounding error. Requires |a| >= |b| or a == 0 (Fast2Sum).
template <class V>
Sum<V> exact_sum(const V& a, const V& b) {
  const V high = a + b;
  return {high, b - (high - a)};
}

// Rounds towards zero to the upper half of the mantissa. The product of two such numbers is exact.
template <class V>
V high_half(const V& x) {
  return as_float(as_int(x) & FormatOf<V>::kHalfMask);
}

// Returns a * b - product. `product` plus this error has about twice the precision of V.
template <class V>
V product_error(const V& a, const V& b, const V& product) {
  const V ah = high_half(a), al = a - ah;
  const V bh = high_half(b), bl = b - bh;
  return (((ah * bh - product) + ah * bl) + al * bh) + al * bl;
}

// Computes sqrt(x) with half as many additional bits as V has. The error of sqrt() is a few ulp.
// The square of the root's upper half, high^2, is exact. The rest follows from x - high^2 =
// (sqrt(x) - high) (sqrt(x) + high).
template <class V>
Sum<V> precise_sqrt(const V& x) {
  const V root = sqrt(x);
  const V high = high_half(root);
  const V low = (x - high * high) / (root + high);
  return {high, where(root > 0.0, low, V(0.0))};
}

// Returns 2^n, which must be a normal number.
template <class V>
V power_of_two(const typename V::Int& n) {
  return as_float((n + FormatOf<V>::kBias) << FormatOf<V>::kMantissaBits);
}

// Returns y 2^n. Multiplies in two steps, because 2^n itself may not be a normal number. The first
// step is exact, so that a subnormal result is rounded only once.
template <class V>
V scale(const V& y, const typename V::Int& n) {
  const typename V::Int half = n >> 1;
  return y * power_of_two<V>(half) * power_of_two<V>(n - half);
}

// Returns the bits of x with all bits cleared except the sign bit.
template <class V>
typename V::Int sign_bit(const V& x) {
  return as_int(x) & FormatOf<V>::kSignBit;
}

// Gives `magnitude`, which must not be negative, the sign of x.
template <class V>
V with_sign_of(const V& x, const V& magnitude) {
  return as_float(as_int(magnitude) | sign_bit(x));
}

template <class V>
V clamp(const V& x, double low, double high) {
  return where(x > high, V(high), where(x < low, V(low), x));  // Propagates NaN.
}

}  // namespace tenon::expansions
