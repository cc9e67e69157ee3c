// What ops share whose outputs are as large as the data say.
//
// With `size` such an op has static shapes: what it finds comes first, in the room that is left
// stands `fill`, and an output `count` tells how much there was to find. Without, inference gives
// the largest shapes that there can be, kernels refuse, and the decomposition calls the op with
// that size, waits for the count and cuts the outputs.

#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/ops/formulas.h"

namespace tenon::ops {

inline bool has_size(Size size) { return !identical(size, -1); }

inline void require_size(Size size, std::string_view label) {
  require(!has_size(size) || size >= 0, "{}: size must be -1 or not negative, but is {}", label,
          size);
}

// `fill` is a value of the dtype, and a whole one that a double tells from its neighbours where the
// dtype is not floating.
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
          "{}: fill must be a whole number of [{}, {}] for {}, but is {}", label, low, high, dtype,
          fill);
}

// What inference has checked, as a weak scalar.
inline Tensor fill_scalar(double fill, DType dtype) {
  return is_floating(dtype) ? number(fill) : number_of(dtype, static_cast<int64_t>(fill));
}

// The first n places along an axis. A copy of them, so that the memory of the others is free.
inline Tensor cut(const Tensor& x, Size n, int64_t axis) {
  if (identical(x->shape()[static_cast<size_t>(axis)], n)) return x;
  return copy(slice(x, {.starts = {0}, .ends = {n}, .axes = {axis}}));
}

// What the documents of these ops say alike.
inline constexpr AttrDoc kSizeDoc = {
    "size",
    "How many places the result has room for; -1 for as many as are found, for which the host "
    "waits."};

}  // namespace tenon::ops
