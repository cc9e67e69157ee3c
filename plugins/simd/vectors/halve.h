#pragma once

#include <cstdint>

namespace tenon_simd {

// The maxima of `n` windows over two adjacent rows. The first element of the first window has index
// `first`, and the row below adds `width`. `indices` may be NULL.
void halve_rows(const float* top, const float* bottom, int64_t n, int64_t first, int64_t width,
                float* y, int64_t* indices);

}  // namespace tenon_simd
