// Overloads of <cmath> functions for __float128, implemented by libquadmath. Included before each
// source file of plugins/ref, so that its loops compile unchanged for __float128.

#pragma once

#include <quadmath.h>

#include <cmath>

namespace std {

#define TENON_QUAD_1(name) \
  inline __float128 name(__float128 x) { return ::name##q(x); }
#define TENON_QUAD_2(name) \
  inline __float128 name(__float128 x, __float128 y) { return ::name##q(x, y); }

TENON_QUAD_1(fabs)
TENON_QUAD_1(sqrt)
TENON_QUAD_1(floor)
TENON_QUAD_1(ceil)
TENON_QUAD_1(nearbyint)
TENON_QUAD_1(trunc)
TENON_QUAD_1(exp)
TENON_QUAD_1(expm1)
TENON_QUAD_1(log)
TENON_QUAD_1(log2)
TENON_QUAD_1(log10)
TENON_QUAD_1(log1p)
TENON_QUAD_1(sin)
TENON_QUAD_1(cos)
TENON_QUAD_1(tan)
TENON_QUAD_1(asin)
TENON_QUAD_1(acos)
TENON_QUAD_1(atan)
TENON_QUAD_1(sinh)
TENON_QUAD_1(cosh)
TENON_QUAD_1(tanh)
TENON_QUAD_1(asinh)
TENON_QUAD_1(acosh)
TENON_QUAD_1(atanh)
TENON_QUAD_1(erf)
TENON_QUAD_1(erfc)
TENON_QUAD_1(lgamma)
TENON_QUAD_1(cbrt)
TENON_QUAD_2(atan2)
TENON_QUAD_2(copysign)
TENON_QUAD_2(fmod)
TENON_QUAD_2(hypot)
TENON_QUAD_2(nextafter)
TENON_QUAD_2(pow)
#undef TENON_QUAD_1
#undef TENON_QUAD_2

inline __float128 exp2(__float128 x) { return ::exp2q(x); }
inline __float128 fma(__float128 x, __float128 y, __float128 z) { return ::fmaq(x, y, z); }
inline __float128 ldexp(__float128 x, int exponent) { return ::ldexpq(x, exponent); }
inline int ilogb(__float128 x) { return ::ilogbq(x); }
inline bool isnan(__float128 x) { return ::isnanq(x) != 0; }
inline bool isinf(__float128 x) { return ::isinfq(x) != 0; }
inline bool isfinite(__float128 x) { return ::finiteq(x) != 0; }

}  // namespace std
