// clip, fma and where.

#include <cmath>

#include "plugins/ref/elementwise.h"

namespace tenon_ref {
namespace {

// Computes x * y + z for float32 and half types. The product is exact in double. The sum is rounded
// to odd, so that narrowing it gives the same result as a single rounding.
double fma_round_to_odd(double x, double y, double z) {
  const double product = x * y;
  const double sum = product + z;
  if (!std::isfinite(sum)) return sum;
  // The exact rounding error of the sum (2Sum algorithm).
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (z - part);
  if (lost == 0) return sum;
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  if ((bits & 1) != 0) return sum;
  return std::nextafter(sum, lost > 0 ? HUGE_VAL : -HUGE_VAL);
}

}  // namespace

// Computes min(max(x, low), high). The result is NaN if any operand is NaN.
Prepared prepare_clip(const Request& request) {
  return tenon_sdk::dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) {
    using W = Exact<T>;
    return map_kernel<T, T>(+[](W x, W low, W high) {
      if (x != x) return x;
      if (low != low || x < low) x = low;
      return high != high || high < x ? high : x;
    });
  });
}

Prepared prepare_fma(const Request& request) {
  return tenon_sdk::dispatch<tenon_sdk::Floats>(request.input(0).dtype, [&]<class T>(Type<T>) {
    if constexpr (sizeof(T) >= sizeof(double)) {
      return map_kernel<T, T>(+[](T x, T y, T z) { return std::fma(x, y, z); });
    } else {
      return map_kernel<T, T>(fma_round_to_odd);
    }
  });
}

Prepared prepare_where(const Request& request) {
  return tenon_sdk::dispatch_size(request.input(1).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [](const tenon_launch& launch) {
      const tenon_view& out = launch.outputs[0];
      const auto* condition = tenon_sdk::data<const Bool>(launch.inputs[0]);
      const T* x = tenon_sdk::data<const T>(launch.inputs[1]);
      const T* y = tenon_sdk::data<const T>(launch.inputs[2]);
      T* to = tenon_sdk::data<T>(out);
      const tenon_sdk::Walk<4> walk(
          out.rank, out.sizes,
          {tenon_sdk::strides_of(launch.inputs[0]), tenon_sdk::strides_of(launch.inputs[1]),
           tenon_sdk::strides_of(launch.inputs[2]), out.strides});
      walk.elements([&](const auto& at) { to[at[3]] = condition[at[0]] ? x[at[1]] : y[at[2]]; });
    });
  });
}

}  // namespace tenon_ref
