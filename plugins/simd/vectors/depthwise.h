// Depthwise convolutions of one channel that read the image in place. They need no padded planes.

#pragma once

#include <cstdint>

namespace tenon_simd {

// Arguments of convolve_depthwise(). Output (row, column) is the sum of filter[i * taps + j] *
// x(row
// * step + i - pad_rows, column * step + j - pad_columns) over the taps (i, j) in row-major order.
// Elements outside the image are zeros.
template <class T>
struct DepthwiseImage {
  const T* x;
  int64_t x_row, height, width;  // Distance between rows, and the size of the image.
  const T* zeros;                // `width` zeros.
  const T* filter;
  int64_t taps;  // Along each axis: 3 or 5.
  int64_t step;  // Along each axis: 1 or 2.
  int64_t pad_rows, pad_columns;
  T bias;
  bool add_bias;
  T* y;
  int64_t y_height, y_width;  // The rows of y are contiguous.
};

// Whether convolve_depthwise() is available: the vectors need loads that read only some lanes.
constexpr bool has_depthwise() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

// Computes the output. Each element is summed from 0 by fused multiply-adds.
// Then adds the bias if add_bias is true.
void convolve_depthwise(const DepthwiseImage<float>& image);
void convolve_depthwise(const DepthwiseImage<double>& image);

}  // namespace tenon_simd
