// The kit's number type. It represents every value of every dtype, and the error of float64
// results.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "conformance/kit/bits.h"

// Numbers have the format binary128 if the compiler supports it: as long double or as __float128.
#if __LDBL_MANT_DIG__ == 113
#define TENON_KIT_BINARY128 1
#elif defined(__SIZEOF_FLOAT128__)
#define TENON_KIT_BINARY128 1
#define TENON_KIT_QUADMATH 1
#include <quadmath.h>
#endif

namespace tenon_kit {

#if defined(TENON_KIT_QUADMATH)
using Real = __float128;
inline Real real_rint(Real x) { return ::rintq(x); }
inline Real real_scale(Real x, int exponent) { return ::scalbnq(x, exponent); }
inline int real_ilogb(Real x) { return ::ilogbq(x); }
inline Real real_pow2(Real x) { return ::exp2q(x); }
#else
using Real = long double;
inline Real real_rint(Real x) { return std::rint(x); }
inline Real real_scale(Real x, int exponent) { return std::scalbn(x, exponent); }
inline int real_ilogb(Real x) { return std::ilogb(x); }
inline Real real_pow2(Real x) { return std::exp2(x); }
#endif

#if defined(TENON_KIT_BINARY128)
inline constexpr bool kRealIsQuad = true;

// The bits of a binary128: 1 sign bit, 15 for the exponent and 112 for the fraction. Checks spend
// most of their time on a few functions of these bits, which would otherwise be calls into a
// library.
struct RealBits {
  uint64_t low, high;
};
inline constexpr int kHighFractionBits = 48, kRealBias = 16383, kRealTopExponent = 0x7fff;
inline RealBits real_bits(Real x) {
  RealBits bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline int real_biased_exponent(Real x) {
  return static_cast<int>(real_bits(x).high >> kHighFractionBits) & kRealTopExponent;
}
inline bool real_has_fraction(Real x) {
  const RealBits bits = real_bits(x);
  return (bits.low | (bits.high << (64 - kHighFractionBits))) != 0;
}

inline bool real_is_finite(Real x) { return real_biased_exponent(x) != kRealTopExponent; }
inline bool real_is_nan(Real x) { return !real_is_finite(x) && real_has_fraction(x); }
inline bool real_is_inf(Real x) { return !real_is_finite(x) && !real_has_fraction(x); }
// Whether the sign bit is set.
inline bool real_sign(Real x) { return (real_bits(x).high >> 63) != 0; }
inline Real real_abs(Real x) { return real_sign(x) ? -x : x; }
inline int real_exponent(Real x) {
  const int biased = real_biased_exponent(x);
  return biased == 0 || biased == kRealTopExponent ? real_ilogb(x) : biased - kRealBias;
}
#else
inline constexpr bool kRealIsQuad = false;
inline Real real_abs(Real x) { return std::fabs(x); }
inline bool real_is_finite(Real x) { return std::isfinite(x); }
inline int real_exponent(Real x) { return std::ilogb(x); }
inline bool real_is_nan(Real x) { return std::isnan(x); }
inline bool real_is_inf(Real x) { return std::isinf(x); }
inline bool real_sign(Real x) { return std::signbit(x); }
#endif

// Two to the power of `exponent`.
inline Real real_power(int exponent) {
  constexpr int kBias = 1023, kFractionBits = 52;
  if (exponent <= -kBias || exponent > kBias) return real_scale(1, exponent);
  return bit_cast<double>(static_cast<uint64_t>(exponent + kBias) << kFractionBits);
}

using Reals = std::vector<Real>;

}  // namespace tenon_kit
