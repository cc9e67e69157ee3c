// The kit's number type: wide enough for every value of every dtype, and to measure the error of
// float64 results.

#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#if defined(__SIZEOF_FLOAT128__)
#include <quadmath.h>
#endif

namespace tenon_kit {

#if defined(__SIZEOF_FLOAT128__)
using Real = __float128;
inline constexpr bool kRealIsQuad = true;
inline Real real_abs(Real x) { return ::fabsq(x); }
inline Real real_rint(Real x) { return ::rintq(x); }
inline Real real_scale(Real x, int exponent) { return ::scalbnq(x, exponent); }
inline int real_exponent(Real x) { return ::ilogbq(x); }
inline bool real_is_nan(Real x) { return ::isnanq(x) != 0; }
inline bool real_is_inf(Real x) { return ::isinfq(x) != 0; }
inline bool real_sign(Real x) { return ::signbitq(x) != 0; }
inline Real real_pow2(Real x) { return ::exp2q(x); }
#else
using Real = long double;
inline constexpr bool kRealIsQuad = false;
inline Real real_abs(Real x) { return std::fabs(x); }
inline Real real_rint(Real x) { return std::rint(x); }
inline Real real_scale(Real x, int exponent) { return std::scalbn(x, exponent); }
inline int real_exponent(Real x) { return std::ilogb(x); }
inline bool real_is_nan(Real x) { return std::isnan(x); }
inline bool real_is_inf(Real x) { return std::isinf(x); }
inline bool real_sign(Real x) { return std::signbit(x); }
inline Real real_pow2(Real x) { return std::exp2(x); }
#endif

inline bool real_is_finite(Real x) { return !real_is_nan(x) && !real_is_inf(x); }

using Reals = std::vector<Real>;

}  // namespace tenon_kit
