// asin, acos, atan, atan2.
//
// Near zero, each function is an odd polynomial. Elsewhere it is pi/2 minus a small angle. pi/2 is
// stored in two parts; the lower one is combined with the small angle first, so that only the last
// subtraction has a significant rounding error.

#pragma once

#include "core/ops/expansions/coefficients.h"
#include "core/ops/expansions/value.h"

namespace tenon::expansions {

// Intermediate values of asin and acos. For |x| > 1/2, asin(x) = pi/2 - 2 asin(root) with root^2 =
// (1 - |x|) / 2, which is exact. precise_sqrt() computes the root with 1.5 times the bits of V, so
// that it adds no significant error.
template <class V>
struct ArcSine {
  typename V::Bool is_inner;
  V tail;  // If is_inner: asin(|x|) = |x| + tail.
  V half;  // If not is_inner: asin(root).
};

// Computes the intermediate values for a = |x|.
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

// Returns atan(q), or pi/2 - atan(q) if q is the reciprocal of the argument. The polynomial adds at
// most a quarter to q, so the error is that of q plus slightly more than half an ulp.
template <class V>
V arc_tangent(const V& q, const typename V::Bool& is_reciprocal) {
  const V z = q * q;
  const V angle = q + q * (z * polynomial(z, kAtan<typename V::Scalar>));
  const Sum<V> right = half_pi<V>();
  return where(is_reciprocal, right.high - (angle - right.low), angle);
}

// For |x| > 1, the reciprocal has an error of at most 2.5 ulp. At most half of it, near 1, reaches
// the result.
template <class V>
V atan(const V& x) {
  const V a = abs(x);
  const typename V::Bool is_large = a > 1.0;
  return with_sign_of(x, arc_tangent(where(is_large, 1.0 / a, a), is_large));
}

// The quotient is the smaller magnitude divided by the larger, which is at most 1. For equal
// magnitudes, including infinities, it is set to exactly 1, or to 0 if both are zero. This gives
// all special cases of C99. If the quotient is slightly above a power of two and its arc tangent
// below it, 2.5 ulp of the quotient are 5 ulp of the result. The total error is below 6 ulp.
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
