// erf and erfc.
//
// For |x| <= 1, erf(x) = x (1 + p(x^2)), with p between -0.16 and 0.13. Its error is mainly the
// rounding of the sum and of the product (half an ulp each). For tiny x, products that become
// subnormal do not affect the result.
//
// For |x| > 1, erf(x) = 1 - exp(q(|x| - 1)), where the polynomial q approximates log(erfc) and is
// nearly a parabola. The exponential is at most 0.16 and decreases like exp(-x^2). Its rounding
// error and that of q are therefore small relative to the half ulp of the difference. The fit
// of q weights its error accordingly.

#pragma once

#include "core/ops/expansions/coefficients.h"
#include "core/ops/expansions/exp.h"
#include "core/ops/expansions/value.h"

namespace tenon::expansions {

template <class V>
V erf(const V& x) {
  using Scalar = typename V::Scalar;
  const V a = abs(x);
  const V inner = a * (1.0 + polynomial(a * a, kErf<Scalar>));
  const double kOne = pick<V>(4, 6);  // From this magnitude on, the result rounds to 1.
  const V t = where(a > kOne, V(kOne), a) - 1.0;
  const V outer = 1.0 - expansions::exp(polynomial(t, kLogErfc<Scalar>));
  return with_sign_of(x, where(a < 1.0, inner, outer));
}

// Computes exp(-x^2) q p(t) for x >= 0, with q = 4 / (x + 4) and t = (x - 4) / (x + 4) = x q / 2 -
// 1. exp(-x^2) is corrected for the rounding error `lost` of the square: exp(-lost) is 1 - lost to
// within rounding.
template <class V>
V erfc(const V& x) {
  const V a = clamp(abs(x), 0, pick<V>(10.5, 28));  // At the upper bound the result is 0.
  const V square = a * a;
  const V lost = product_error(a, a, square);
  const V e = expansions::exp(-square);
  const V q = 4.0 / (a + 4.0);
  const V p = polynomial((0.5 * a) * q - 1.0, kErfc<typename V::Scalar>);
  const V rest = q * p;  // Much larger than rest * lost, so that no product is subnormal.
  const V right = e * (rest - rest * lost);
  return where(x < 0.0, 2.0 - right, right);
}

}  // namespace tenon::expansions
