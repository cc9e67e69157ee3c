// asin, acos, atan, atan2.
//
// Each is an odd polynomial near zero, and the distance to pi/2 elsewhere. pi/2 has two parts; the
// lower one is added to the smaller term first, so that only the last sum rounds noticeably.

#pragma once

#include "core/ops/expansions/coefficients.h"
#include "core/ops/expansions/value.h"

namespace tenon::expansions {

// Where |x| > 1/2, asin(x) = pi/2 - 2 asin(root) with root^2 = (1 - |x|) / 2, which is exact. The
// root has half as many bits again, so that only the roundings of a sum remain.
template <class V>
struct ArcSine {
  typename V::Bool is_inner;
  V tail;  // asin(x) = |x| + tail, if is_inner.
  V half;  // asin(root), otherwise.
};

template <class V>
ArcSine<V> arc_sine(const V& a) {
  const typename V::Bool is_inner = a <= 0.5;
  const V outer_square = (1.0 - a) * 0.5;
  const V z = where(is_inner, a * a, outer_square);
  const V share = z * polynomial(z, kAsin<typename V::Scalar>);
  const Sum<V> root = precise_sqrt(outer_square);
  return {is_inner, a * share, root.high + (root.low + (root.high + root.low) * share)};
}

template <class V>
V asin(const V& x) {
  const V a = abs(x);
  const ArcSine<V> parts = arc_sine(a);
  const Sum<V> right = half_pi<V>();
  const V outer = right.high - (2.0 * parts.half - right.low);
  const V y = where(parts.is_inner, a + parts.tail, outer);
  return where(a <= 1.0, with_sign_of(x, y), V(kNan));
}

template <class V>
V acos(const V& x) {
  const V a = abs(x);
  const ArcSine<V> parts = arc_sine(a);
  const Sum<V> right = half_pi<V>();
  const V tail = where(x < 0.0, -parts.tail, parts.tail);
  const V inner = right.high - (x - (right.low - tail));
  const V left = 2.0 * (right.high - (parts.half - right.low));
  const V outer = where(x < 0.0, left, 2.0 * parts.half);
  return where(a <= 1.0, where(parts.is_inner, inner, outer), V(kNan));
}

// atan(q), or pi/2 - atan(q) where q is the reciprocal of the argument. The polynomial adds at most
// a quarter to q, so the error is that of q and slightly more than half an ulp.
template <class V>
V arc_tangent(const V& q, const typename V::Bool& is_reciprocal) {
  const V z = q * q;
  const V angle = q + q * (z * polynomial(z, kAtan<typename V::Scalar>));
  const Sum<V> right = half_pi<V>();
  return where(is_reciprocal, right.high - (angle - right.low), angle);
}

// A reciprocal is off by at most 2.5 ulp, near 1, where its arc tangent is off by half of that.
template <class V>
V atan(const V& x) {
  const V a = abs(x);
  const typename V::Bool is_large = a > 1.0;
  return with_sign_of(x, arc_tangent(where(is_large, 1.0 / a, a), is_large));
}

// The smaller magnitude over the larger is at most 1. For equal magnitudes it is exactly 1
// (infinities included) or 0, from which the table of C99 follows without further cases. Where the
// quotient is just above a power of two, its arc tangent may be below, and 2.5 ulp count as 5:
// below 6 in all.
template <class V>
V atan2(const V& y, const V& x) {
  const V ax = abs(x), ay = abs(y);
  const typename V::Bool is_steep = ay > ax;
  const V dividend = where(is_steep, ax, ay);
  const V divisor = where(is_steep, ay, ax);
  const V of_equals = where(divisor == 0.0, V(0.0), V(1.0));
  const V quotient = where(dividend == divisor, of_equals, dividend / divisor);
  const V first = arc_tangent(quotient, is_steep);
  const Sum<V> right = half_pi<V>();
  const V second = 2.0 * right.high - (first - 2.0 * right.low);
  return with_sign_of(y, where(as_int(x) < 0, second, first));
}

}  // namespace tenon::expansions
