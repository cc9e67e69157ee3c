// sinh, cosh, tanh and their inverses.
//
// All but cosh and acosh are odd: the formulas use a = |x| and restore the sign at the end. Near
// zero an odd polynomial a + a z p(z), z = a^2, keeps the relative accuracy: its sum rounds by half
// an ulp, and the term added to a has an error of about as much.

#pragma once

#include "core/ops/expansions/coefficients.h"
#include "core/ops/expansions/exp.h"
#include "core/ops/expansions/log.h"
#include "core/ops/expansions/value.h"

namespace tenon::expansions {

template <class V, size_t N>
V odd_polynomial(const V& x, const std::array<double, N>& tail) {
  const V z = x * x;
  return x + x * (z * polynomial(z, tail));
}

// (e^a - e^-a) / 2 = h - 1 / (4 h) with h = e^a / 2, which overflows only where the result does.
// For a >= 1 the second term is at most a seventh of the first.
template <class V>
V sinh(const V& x) {
  const V a = abs(x);
  const V inner = odd_polynomial(a, kSinh<typename V::Scalar>);
  const V half = shifted_exp(a, -1);
  const V outer = half - 0.25 / half;
  return with_sign_of(x, where(a < 1.0, inner, outer));
}

// h + 1 / (4 h): near zero, where the terms are equal, an error of h cancels between them.
template <class V>
V cosh(const V& x) {
  const V half = shifted_exp(abs(x), -1);
  return half + 0.25 / half;
}

// 1 - 2 / (e^2a + 1): for a >= 5/8 the quotient is less than half, and so are its ulps.
template <class V>
V tanh(const V& x) {
  const V a = abs(x);
  const V inner = odd_polynomial(a, kTanh<typename V::Scalar>);
  const V outer = 1.0 - 2.0 / (expansions::exp(2.0 * a) + 1.0);
  return with_sign_of(x, where(a < 0.625, inner, outer));
}

// log(a + sqrt(a^2 + 1)) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))); where a is so large that the root
// equals a, log(2 a). The quotient is less than 0.3 of the sum for a <= 1; beyond, the logarithm
// removes most of a relative error.
template <class V>
V asinh(const V& x) {
  const V a = abs(x);
  const typename V::Bool large = a > pick<V>(0x1p30, 0x1p60);
  const V square = a * a;
  const V t = where(large, a, a + square / (1.0 + sqrt(square + 1.0)));
  return with_sign_of(x, shifted_log1p(t, where(large, V(1.0), V(0.0))));
}

// log1p(t + sqrt(t (x + 1))), t = x - 1. Near 1, t is exact and the root dominates the result, so
// it is computed by precise_sqrt().
template <class V>
V acosh(const V& x) {
  const typename V::Bool large = x > pick<V>(0x1p30, 0x1p60);
  const V t = x - 1.0;
  const Sum<V> root = precise_sqrt(t * (x + 1.0));
  const V argument = where(large, x, root.high + (root.low + t));
  const V y = shifted_log1p(argument, where(large, V(1.0), V(0.0)));
  return where(x >= 1.0, y, V(kNan));
}

// log(q) / 2, q = (1 + a) / (1 - a). For a >= 1/2 the divisor is exact. The rounding errors of the
// quotient and the dividend, over the dividend, correct the logarithm.
template <class V>
V atanh(const V& x) {
  const V a = abs(x);
  const V inner = odd_polynomial(a, kAtanh<typename V::Scalar>);
  const V divisor = 1.0 - a;
  const Sum<V> dividend = exact_sum(V(1.0), a);
  const V q = dividend.high / divisor;
  const V product = q * divisor;
  const V missing = ((dividend.high - product) - product_error(q, divisor, product)) + dividend.low;
  const V outer = 0.5 * log_of(binary_parts(q), missing / dividend.high);
  const V limit = where(a == 1.0, V(kInfinity), V(kNan));
  return with_sign_of(x, where(a < 0.5, inner, where(a < 1.0, outer, limit)));
}

}  // namespace tenon::expansions
