// Shared by ops whose output sizes depend on data: nonzero, boolean_mask, unique and bincount.
//
// If the attribute `size` is given, the outputs have static shapes with that capacity. Results come
// first, `fill` pads the rest, and the output `count` is the number of results. If `size` is -1,
// inference returns the largest possible shapes, and kernels refuse the call. The decomposition
// then calls the op with the largest size, waits for the count, and slices the outputs.

#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {

// Whether the attribute `size` is given, which means that it is not -1.
inline bool has_size(Size size) { return !identical(size, -1); }

// Requires the attribute `size` to be -1 or not negative. Error messages begin with `label`.
inline void require_size(Size size, std::string_view label) {
  require(!has_size(size) || size >= 0, "{}: size must be -1 or not negative, but is {}", label,
          size);
}

// Requires `fill` to be a value of the dtype. For integer dtypes, it must be an integer that is
// small enough to be exact in a double.
inline void require_fill(double fill, DType dtype, std::string_view label) {
  if (is_floating(dtype)) return;
  const int bits = std::min(static_cast<int>(8 * size_of(dtype)), 53);
  double low = 0, high = 1;
  if (is_signed_integer(dtype)) {
    high = std::ldexp(1, bits - 1) - 1;
    low = -high - 1;
  } else if (dtype != DType::kBool) {
    high = std::ldexp(1, bits) - 1;
  }
  require(fill == std::floor(fill) && fill >= low && fill <= high,
          "{}: fill must be an integer in [{}, {}] for {}, but is {}", label, low, high, dtype,
          fill);
}

// Returns a fill value that require_fill() has accepted, as a weak scalar.
inline Tensor fill_scalar(double fill, DType dtype) {
  return is_floating(dtype) ? number(fill) : number_of(dtype, static_cast<int64_t>(fill));
}

// Returns the first n slices along an axis. Copies them, so that the memory of x can be freed.
inline Tensor cut(const Tensor& x, Size n, int64_t axis) {
  if (identical(x->shape()[static_cast<size_t>(axis)], n)) return x;
  return copy(slice(x, {.starts = {0}, .ends = {n}, .axes = {axis}}));
}

// Documentation that these ops share.
inline constexpr AttrDoc kSizeDoc = {
    "size",
    "The size of the result; -1 for the number of elements found, which the host waits for."};

}  // namespace tenon::ops
