// exp, exp2, expm1, and the exponential with a shifted exponent that other expansions use.
//
// The argument is n ln 2 + r with |r| <= ln 2 / 2, and the result is 2^n (1 + r + r^2 p(r)). ln 2
// is split into an upper part with few bits, whose product with n is exact, and a remainder. The
// error of r is less than half an ulp of r, which is a third of an ulp of the result. The sum in
// parentheses adds half an ulp and p a tenth, so the total is below 1 ulp.

#pragma once

#include "core/ops/expansions/coefficients.h"
#include "core/ops/expansions/value.h"

namespace tenon::expansions {

// exp(x) = 2^n (1 + tail), for an x that was clamped to a range without overflow.
template <class V>
struct Exponential {
  V n;
  V tail;
};

// Computes n and tail for exp(x) = 2^n (1 + tail).
template <class V>
Exponential<V> split_exponential(const V& x) {
  const V n = round(x * 0x1.71547652b82fep+0);
  const V high = x - n * pick<V>(0x1.62e4p-1, 0x1.62e42fefa38p-1);
  const V r = high - n * pick<V>(0x1.7f7d1cf79abcap-20, 0x1.ef35793c7673p-45);
  return {n, r + r * r * polynomial(r, kExp<typename V::Scalar>)};
}

// Computes exp(x) 2^shift without intermediate overflow. Arguments outside the bounds of clamp()
// give 0 or infinity in any case.
template <class V>
V shifted_exp(const V& x, int shift) {
  const Exponential<V> e = split_exponential(clamp(x, pick<V>(-106, -748), pick<V>(90, 712)));
  return scale(1.0 + e.tail, to_int(e.n) + shift);
}

template <class V>
V exp(const V& x) {
  return shifted_exp(x, 0);
}

// For an integer x, r is zero and the result is the exact power of two.
template <class V>
V exp2(const V& x) {
  const V bounded = clamp(x, pick<V>(-152, -1077), pick<V>(129, 1025));
  const V n = round(bounded);
  const V r = bounded - n;
  return scale(1.0 + r * polynomial(r, kExp2<typename V::Scalar>), to_int(n));
}

// Computes 2^n (tail + (1 - 2^-n)). The inner difference is exact as long as it is less than 1. For
// n = 0, the result is `tail`, whose leading term is the argument itself, so that its relative
// error is below 1 ulp. For other n, the magnitude of the sum is at least 0.29, and the error of
// `tail` is small relative to it.
template <class V>
V expm1(const V& x) {
  const Exponential<V> e = split_exponential(clamp(x, pick<V>(-18, -38), pick<V>(90, 712)));
  const typename V::Int n = to_int(e.n);
  const V gap = where(e.n > pick<V>(25, 54), V(1.0), 1.0 - power_of_two<V>(0 - n));
  const V y = scale(e.tail + gap, n);
  return where(abs(x) < FormatOf<V>::kTiny, x, y);
}

}  // namespace tenon::expansions
