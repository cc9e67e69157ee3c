#pragma once

#include <cstdint>

namespace tenon_simd {

// Computes the maxima of `n` 2 x 2 windows over two adjacent rows, and their indices. The first
// element of the first window has index `first`, and the element below it has index first + width.
// `indices` may be NULL.
void max_pool_2x2_rows(const float* top, const float* bottom, int64_t n, int64_t first,
                       int64_t width, float* y, int64_t* indices);

}  // namespace tenon_simd
