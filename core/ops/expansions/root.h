// rsqrt and cbrt.

#pragma once

#include "core/ops/expansions/coefficients.h"
#include "core/ops/expansions/log.h"
#include "core/ops/expansions/value.h"

namespace tenon::expansions {

// Improves 1 / sqrt(x), whose error is up to 5 ulp, by one step of Newton's method. The step
// squares the relative error, which makes it negligible. The total error is about 1 ulp: half an
// ulp from the roundings of the two products, which the factor 0.5 halves, and half an ulp from the
// sum. The order (x y) y avoids overflow and underflow.
template <class V>
V rsqrt(const V& x) {
  const V y = 1.0 / sqrt(x);
  const V step = y + y * (0.5 * (1.0 - (x * y) * y));
  return where(abs(y) < kInfinity, where(x < kInfinity, step, y), y);
}

// |x| = 8^third z with z between 1/3 and 3. A polynomial estimates the cube root of z, and one step
// of Halley's method improves the estimate. The step cubes the relative error, which makes it
// negligible. The rounding of y^3 contributes a third of an ulp, and the sum half an ulp.
template <class V>
V cbrt(const V& x) {
  const V a = abs(x);
  const BinaryParts<V> parts = binary_parts(a);
  const V third = round(parts.exponent * (1.0 / 3));
  const V rest = parts.exponent - 3.0 * third;  // -1, 0 or 1.
  const typename V::Bool rounded_up_in_truncation = rest > 0.0, is_below = rest < 0.0;
  const V z =
      (1.0 + parts.f) * where(rounded_up_in_truncation, V(2.0), where(is_below, V(0.5), V(1.0)));
  const V root_of_rest = where(rounded_up_in_truncation, V(0x1.428a2f98d728bp+0),
                               where(is_below, V(0x1.965fea53d6e3cp-1), V(1.0)));
  const V y = polynomial(parts.f, kCbrt<typename V::Scalar>) * root_of_rest;
  const V cube = y * y * y;
  const V root = y + y * ((z - cube) / (z + 2.0 * cube));
  const V scaled = scale(root, to_int(third));
  return where((a > 0.0) & (a < kInfinity), with_sign_of(x, scaled), x);
}

}  // namespace tenon::expansions
