// Sums of squares without overflow or underflow. Values are multiplied by a power of two before
// they are squared. The factor is 1 in the ordinary range. core/ops/reductions/square_scale.cc
// explains the ranges and factors.

#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace tenon_simd {

template <class T>
struct SquareScale {
  static constexpr bool kIsWide = std::is_same_v<T, double>;
  static constexpr T kLow = static_cast<T>(kIsWide ? 0x1p-440 : 0x1p-48);
  static constexpr T kHigh = static_cast<T>(kIsWide ? 0x1p480 : 0x1p48);
  static constexpr T kUp = static_cast<T>(kIsWide ? 0x1p600 : 0x1p90);
  static constexpr T kDown = static_cast<T>(kIsWide ? 0x1p-600 : 0x1p-80);

  // Whether the mean of unscaled squares is accurate enough. The caller adds epsilon to the mean,
  // so a mean that is much smaller than epsilon need not be accurate.
  static bool is_exact(T mean_square, double epsilon) {
    return std::isfinite(mean_square) &&
           std::max(mean_square, static_cast<T>(epsilon)) >= kLow * kLow;
  }
  // Returns the factor for values whose largest magnitude is `largest`, which may be NaN.
  static T factor(T largest, double epsilon) {
    if (largest > kHigh) return kDown;
    return std::max(largest, static_cast<T>(std::sqrt(epsilon))) < kLow ? kUp : T{1};
  }
};

// `mean` is the mean of the squares of values that were multiplied by `factor` before.
template <class T>
struct MeanSquare {
  T factor, mean;

  // Returns 1 / sqrt(m + epsilon) / factor, where m is the mean of the squares of the unscaled
  // values.
  T inverse_root(double epsilon) const {
    return 1 / std::sqrt(mean + static_cast<T>(epsilon) * factor * factor);
  }
};

}  // namespace tenon_simd
