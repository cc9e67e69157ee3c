// The interface between expansions and value types: the operations that a value type V must have,
// and exact algorithms that several families share.
//
// An expansion is a formula over V without branches, so the same source runs on one number (see
// scalar_value.h), on a SIMD register, or op by op on tensors. V provides
//
//   V::Scalar             float or double: chooses the constants.
//   V::Int, V::UInt       integers as wide as Scalar, that wrap around.
//   V::Bool               a mask, with & | !
//   V(double), V::Int(int64_t), V::UInt(uint64_t)   constants, by implicit conversion.
//   V       + - * / unary -   == != < <= > >=   abs  sqrt  round (ties to even)
//   V::Int  + - & | ^ << >> (arithmetic)   <
//   V::UInt + - * & | ^ << >> (logical)    !=
//   where(Bool, a, b)     for V and V::UInt; the value not chosen may be anything, NaN included.
//   as_int(V), as_float(V::Int), as_uint(V::Int), as_int(V::UInt)   the same bits.
//   to_float(V::Int); to_int(V), for whole numbers in range; for others any value, without a trap.
//
// Shift counts are constants of type int, or a V::UInt below the width. Each operation rounds to
// Scalar. Division and square root may be off by 2.5 ulp, and nothing is fused. Where that would
// cost too much accuracy, an expansion corrects them with products that are exact because their
// factors are halves of a mantissa (high_half).

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tenon::expansions {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The layout of a floating-point format. kHalfMask keeps the upper half of a mantissa.
template <class Scalar>
struct Format;

template <>
struct Format<float> {
  static constexpr int kMantissaBits = 23;
  static constexpr int kBias = 127;
  static constexpr int64_t kSignBit = INT32_MIN;
  static constexpr int64_t kHalfMask = -(int64_t{1} << 12);
  static constexpr double kMinNormal = 0x1p-126;
  static constexpr double kTiny = 0x1p-25;  // Below it, x^2 is negligible beside x.
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

// A constant that differs between the two formats.
template <class V>
constexpr double pick(double for_float, double for_double) {
  return kIsFloat32<V> ? for_float : for_double;
}

// Horner's rule, lowest coefficient first.
template <class V, size_t N>
V polynomial(const V& x, const std::array<double, N>& coefficients) {
  V sum = coefficients[N - 1];
  for (size_t i = N - 1; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

// A rounded value and its rounding error.
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

// The sum of a and b without error, if |a| >= |b| or a is zero.
template <class V>
Sum<V> exact_sum(const V& a, const V& b) {
  const V high = a + b;
  return {high, b - (high - a)};
}

// The upper half of the mantissa, rounded towards zero. Products of two such halves are exact.
template <class V>
V high_half(const V& x) {
  return as_float(as_int(x) & FormatOf<V>::kHalfMask);
}

// a * b - product, to about twice the precision of V.
template <class V>
V product_error(const V& a, const V& b, const V& product) {
  const V ah = high_half(a), al = a - ah;
  const V bh = high_half(b), bl = b - bh;
  return (((ah * bh - product) + ah * bl) + al * bh) + al * bl;
}

// The square root of x with half as many bits again as V has, from a root that may be off by some
// ulp. The square of its upper half is exact, so x minus that square is, and the rest follows from
// x - high^2 = (sqrt(x) - high) (sqrt(x) + high).
template <class V>
Sum<V> precise_sqrt(const V& x) {
  const V root = sqrt(x);
  const V high = high_half(root);
  const V low = (x - high * high) / (root + high);
  return {high, where(root > 0.0, low, V(0.0))};
}

// 2^n for an n whose power is a normal number.
template <class V>
V power_of_two(const typename V::Int& n) {
  return as_float((n + FormatOf<V>::kBias) << FormatOf<V>::kMantissaBits);
}

// y 2^n for any n that occurs in an expansion. Multiplies in two steps, because 2^n itself may not
// be a normal number. The first step is exact, so a subnormal result is rounded once.
template <class V>
V scale(const V& y, const typename V::Int& n) {
  const typename V::Int half = n >> 1;
  return y * power_of_two<V>(half) * power_of_two<V>(n - half);
}

template <class V>
typename V::Int sign_bit(const V& x) {
  return as_int(x) & FormatOf<V>::kSignBit;
}

// Copies the sign of x to a result that is not negative.
template <class V>
V with_sign_of(const V& x, const V& magnitude) {
  return as_float(as_int(magnitude) | sign_bit(x));
}

template <class V>
V clamp(const V& x, double low, double high) {
  return where(x > high, V(high), where(x < low, V(low), x));  // Propagates NaN.
}

}  // namespace tenon::expansions
