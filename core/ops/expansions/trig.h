// sin, cos and tan, for every finite argument.
//
// trig_reduction.h reduces the argument to an angle of at most pi/4, stored in two parts. The lower
// part is multiplied by the derivative and added. The leading term of sin, cos and tan is exact,
// and the polynomials add at most a fifth of it (tan: a quarter). The error is therefore below 1
// ulp for sin and cos, and below 1.5 ulp for tan.

#pragma once

#include "core/ops/expansions/coefficients.h"
#include "core/ops/expansions/trig_reduction.h"
#include "core/ops/expansions/value.h"

namespace tenon::expansions {

// Returns the sine of an angle of at most pi/4.
template <class V>
V sine_of(const Sum<V>& angle) {
  const V z = angle.high * angle.high;
  const V tail = angle.high * (z * polynomial(z, kSin<typename V::Scalar>));
  return angle.high + (tail + angle.low * (1.0 - 0.5 * z));
}

// Returns the cosine of an angle of at most pi/4: 1 - z / 2 + tail, where z is the square of the
// angle. The rounding error of 1 - z / 2 is computed exactly and added to the tail.
template <class V>
V cosine_of(const Sum<V>& angle) {
  const V z = angle.high * angle.high;
  const Sum<V> lead = exact_sum(V(1.0), -0.5 * z);
  const V tail = z * (z * polynomial(z, kCos<typename V::Scalar>));
  return lead.high + (lead.low + (tail - angle.high * angle.low));
}

// Returns y if the magnitude is finite, else NaN.
template <class V>
V nan_unless_finite(const V& magnitude, const V& y) {
  return where(magnitude < kInfinity, y, V(kNan));
}

// Flips the sign of y if `bit` is the sign bit; returns y if `bit` is zero.
template <class V>
V with_sign_flipped(const V& y, const typename V::Int& bit) {
  return as_float(as_int(y) ^ bit);
}

// Returns sin(angle + quadrant pi/2). For quadrants 0 to 3 this is sin, cos, -sin and -cos of the
// angle.
template <class V>
V sine_in_quadrant(const typename V::UInt& quadrant, const Sum<V>& angle) {
  const auto is_cosine = (quadrant & 1) != 0;
  const V y = where(is_cosine, cosine_of(angle), sine_of(angle));
  constexpr int kToSignBit = 8 * sizeof(typename V::Scalar) - 2;
  return with_sign_flipped(y, as_int((quadrant & 2) << kToSignBit));
}

template <class V>
V sin(const V& x) {
  const V a = abs(x);
  const Reduction<V> reduced = PiReducer<V>::reduce(a);
  const V y = sine_in_quadrant(reduced.quadrant, reduced.angle);
  return nan_unless_finite(a, with_sign_flipped(y, sign_bit(x)));
}

template <class V>
V cos(const V& x) {
  const V a = abs(x);
  const Reduction<V> reduced = PiReducer<V>::reduce(a);
  return nan_unless_finite(a, sine_in_quadrant(reduced.quadrant + 1, reduced.angle));
}

// Computes tan(angle), or -1 / tan(angle) in odd quadrants. The tangent t has two parts. The
// quotient q = -1 / t has an error of up to 2.5 ulp, which q t + 1, computed exactly, corrects.
template <class V>
V tan(const V& x) {
  const V a = abs(x);
  const Reduction<V> reduced = PiReducer<V>::reduce(a);
  const V angle = reduced.angle.high, z = angle * angle;
  const V tail = angle * (z * polynomial(z, kTan<typename V::Scalar>));
  const V slope = 1.0 + (angle + tail) * (angle + tail);
  const Sum<V> t = exact_sum(angle, tail + reduced.angle.low * slope);

  const V q = -1.0 / t.high;
  const V product = q * t.high;
  const V missing = (1.0 + product) + (product_error(q, t.high, product) + q * t.low);
  const V y = where((reduced.quadrant & 1) != 0, q + q * missing, t.high);
  return nan_unless_finite(a, with_sign_flipped(y, sign_bit(x)));
}

}  // namespace tenon::expansions
