// sinh, cosh, tanh and their inverses.
//
// All functions except cosh and acosh are odd: they compute with a = |x| and restore the sign at
// the end. Near zero they use an odd polynomial a + a z p(z) with z = a^2, whose relative error is
// small: half an ulp from the sum, and about as much from the term that is added to a.

#pragma once

#include "core/ops/expansions/coefficients.h"
#include "core/ops/expansions/exp.h"
#include "core/ops/expansions/log.h"
#include "core/ops/expansions/value.h"

namespace tenon::expansions {

// Returns x + x z p(z) with z = x^2. `tail` holds the coefficients of p.
template <class V, size_t N>
V odd_polynomial(const V& x, const std::array<double, N>& tail) {
  const V z = x * x;
  return x + x * (z * polynomial(z, tail));
}

// sinh(a) = h - 1 / (4 h) with h = e^a / 2, which overflows only if the result overflows. For a >=
// 1, the second term is at most a seventh of the first.
template <class V>
V sinh(const V& x) {
  const V a = abs(x);
  const V inner = odd_polynomial(a, kSinh<typename V::Scalar>);
  const V half = shifted_exp(a, -1);
  const V outer = half - 0.25 / half;
  return with_sign_of(x, where(a < 1.0, inner, outer));
}

// cosh(a) = h + 1 / (4 h) with h = e^a / 2. Near zero the terms are equal, so that an error of h
// cancels.
template <class V>
V cosh(const V& x) {
  const V half = shifted_exp(abs(x), -1);
  return half + 0.25 / half;
}

// tanh(a) = 1 - 2 / (e^(2 a) + 1). For a >= 5/8 the quotient is less than 1/2, so that an ulp of
// it is at most half an ulp of the result.
template <class V>
V tanh(const V& x) {
  const V a = abs(x);
  const V inner = odd_polynomial(a, kTanh<typename V::Scalar>);
  const V outer = 1.0 - 2.0 / (expansions::exp(2.0 * a) + 1.0);
  return with_sign_of(x, where(a < 0.625, inner, outer));
}

// asinh(a) = log(a + sqrt(a^2 + 1)) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))). If a is so large that
// the root equals a, it is log(2 a). For a <= 1, the quotient is less than 0.3 of the sum. For
// larger a, the logarithm reduces relative errors.
template <class V>
V asinh(const V& x) {
  const V a = abs(x);
  const typename V::Bool large = a > pick<V>(0x1p30, 0x1p60);
  const V square = a * a;
  const V t = where(large, a, a + square / (1.0 + sqrt(square + 1.0)));
  return with_sign_of(x, shifted_log1p(t, where(large, V(1.0), V(0.0))));
}

// acosh(x) = log1p(t + sqrt(t (x + 1))) with t = x - 1. Near x = 1, t is exact and the root
// dominates the sum, so precise_sqrt() computes it.
template <class V>
V acosh(const V& x) {
  const typename V::Bool large = x > pick<V>(0x1p30, 0x1p60);
  const V t = x - 1.0;
  const Sum<V> root = precise_sqrt(t * (x + 1.0));
  const V argument = where(large, x, root.high + (root.low + t));
  const V y = shifted_log1p(argument, where(large, V(1.0), V(0.0)));
  return where(x >= 1.0, y, V(kNan));
}

// atanh(a) = log(q) / 2 with q = (1 + a) / (1 - a). For a >= 1/2 the divisor is exact. The rounding
// errors of the dividend and of the quotient are computed and added to the logarithm as a relative
// correction.
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
