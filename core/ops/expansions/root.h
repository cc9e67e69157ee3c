// rsqrt.

#pragma once

#include "core/ops/expansions/value.h"

namespace tenon::expansions {

// One step of Newton's method from 1 / sqrt(x), which may be off by 5 ulp. The step squares that
// error away; the two products in it round by at most half an ulp of 1 each and count half, so half
// an ulp comes from them and half from the sum. x y y keeps clear of overflow and underflow.
template <class V>
V rsqrt(const V& x) {
  const V y = 1.0 / sqrt(x);
  const V step = y + y * (0.5 * (1.0 - (x * y) * y));
  return where(abs(y) < kInfinity, where(x < kInfinity, step, y), y);
}

}  // namespace tenon::expansions
