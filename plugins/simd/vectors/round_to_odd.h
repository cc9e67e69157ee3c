// fma rounded to odd, so that a later conversion to a half type gives the correctly rounded result.

#pragma once

#include <cmath>
#include <cstring>

#include "plugins/simd/kernels.h"

namespace tenon_simd {

// x * y + z, for half types that were converted to float32. The product is exact in double.
inline float fma_round_to_odd(float x, float y, float z) {
  const double product = static_cast<double>(x) * static_cast<double>(y);
  const double sum = product + static_cast<double>(z);
  if (!std::isfinite(sum)) return static_cast<float>(sum);
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (static_cast<double>(z) - part);
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  double odd = sum;
  if (lost != 0 && (bits & 1) == 0) odd = std::nextafter(sum, lost > 0 ? HUGE_VAL : -HUGE_VAL);
  return tenon_sdk::detail::round_to_odd(odd);
}

}  // namespace tenon_simd
