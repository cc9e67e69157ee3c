// sigmoid, softplus, silu and gelu, computed by exp, log1p and erf.

#pragma once

#include "core/ops/expansions/erf.h"
#include "core/ops/expansions/exp.h"
#include "core/ops/expansions/log.h"

namespace tenon::expansions {

// exp(-|x|) cannot overflow, and for negative x the quotient keeps its relative accuracy down to
// the smallest numbers. The exponential is accurate to 1 ulp, the sum adds half an ulp and the
// quotient 2.5. For positive x, 1 minus the quotient is never above 1, however the quotient rounds.
template <class V>
V sigmoid(const V& x) {
  const V e = expansions::exp(-abs(x));
  const V left = e / (1.0 + e);
  return where(x < 0.0, left, 1.0 - left);
}

// Neither term is negative, so their errors are not amplified.
template <class V>
V softplus(const V& x) {
  return where(x < 0.0, V(0.0), x) + expansions::log1p(expansions::exp(-abs(x)));
}

// The error is that of the sigmoid plus half an ulp.
template <class V>
V silu(const V& x) {
  return x * expansions::sigmoid(x);
}

// For negative x the sum cancels. The result is accurate to an ulp of x, which the contract allows.
template <class V>
V gelu(const V& x) {
  return 0.5 * x * (1.0 + expansions::erf(x * 0x1.6a09e667f3bcdp-1));
}

}  // namespace tenon::expansions
