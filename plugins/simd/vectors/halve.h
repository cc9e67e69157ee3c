#pragma once

#include <cstdint>

namespace tenon_simd {

// Computes the maxima of `n_rows` times `n` windows of 2 x 2 elements, and their indices. `x_row`:
// distance between rows of x. The first element of the first window has index `first`, and an
// element has the index of the element above it plus `width`. `indices` may be NULL.
void max_pool_2x2(const float* x, int64_t x_row, int64_t n_rows, int64_t n, int64_t first,
                  int64_t width, float* y, int64_t* indices);

}  // namespace tenon_simd
