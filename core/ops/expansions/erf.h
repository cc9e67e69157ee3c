// erf and erfc.
//
// Up to 1, erf is x (1 + p(x^2)) with p between -0.16 and 0.13. The half-ulp errors of the sum and
// the product dominate, and no precision is lost in products that would be subnormal for tiny x.
// Beyond 1, it is 1 - exp(q(x - 1)) with q = log(erfc), which is nearly a parabola. The exponential
// is at most 0.16 there and falls with exp(-x^2). So neither its ulp nor the error of q, which was
// fitted with the matching weight, is visible beside the half ulp of the difference.

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
  const double kOne = pick<V>(4, 6);  // From here on, the result rounds to 1.
  const V t = where(a > kOne, V(kOne), a) - 1.0;
  const V outer = 1.0 - expansions::exp(polynomial(t, kLogErfc<Scalar>));
  return with_sign_of(x, where(a < 1.0, inner, outer));
}

// exp(-x^2) q p(t) for x >= 0, where q = 4 / (x + 4) and t = (x - 4) / (x + 4) = x q / 2 - 1. The
// rounding error of the square is so small that its exponential is 1 minus the error.
template <class V>
V erfc(const V& x) {
  const V a = clamp(abs(x), 0, pick<V>(10.5, 28));  // At the upper bound the result is 0.
  const V square = a * a;
  const V lost = product_error(a, a, square);
  const V e = expansions::exp(-square);
  const V q = 4.0 / (a + 4.0);
  const V p = polynomial((0.5 * a) * q - 1.0, kErfc<typename V::Scalar>);
  const V rest = q * p;  // Far larger than its correction, so no product is flushed to zero.
  const V right = e * (rest - rest * lost);
  return where(x < 0.0, 2.0 - right, right);
}

}  // namespace tenon::expansions
