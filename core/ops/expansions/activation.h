// sigmoid, softplus, silu and gelu, computed from exp, log1p and erf.

#pragma once

#include "core/ops/expansions/erf.h"
#include "core/ops/expansions/exp.h"
#include "core/ops/expansions/log.h"

namespace tenon::expansions {

// sigmoid(x) = e / (1 + e) with e = exp(x) for negative x, and 1 - e / (1 + e) with e = exp(-x) for
// positive x. e is at most 1, so it cannot overflow. For negative x, the error is relative: 1 ulp
// from exp, half an ulp from the sum and 2.5 ulp from the quotient. For positive x, the result
// never exceeds 1.
template <class V>
V sigmoid(const V& x) {
  const V e = expansions::exp(-abs(x));
  const V left = e / (1.0 + e);
  return where(x < 0.0, left, 1.0 - left);
}

// Adds max(x, 0) and log1p(exp(-|x|)). Both terms are nonnegative, so the sum does not amplify
// their errors.
template <class V>
V softplus(const V& x) {
  return where(x < 0.0, V(0.0), x) + expansions::log1p(expansions::exp(-abs(x)));
}

// The error is that of sigmoid, plus half an ulp from the product.
template <class V>
V silu(const V& x) {
  return x * expansions::sigmoid(x);
}

// For negative x, the sum 1 + erf cancels. The error is then about an ulp of x, not of the result;
// NUMERICS.md allows this.
template <class V>
V gelu(const V& x) {
  return 0.5 * x * (1.0 + expansions::erf(x * 0x1.6a09e667f3bcdp-1));
}

}  // namespace tenon::expansions
