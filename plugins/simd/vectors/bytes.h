#pragma once

#include <cstdint>

namespace tenon_simd {

// Returns the number of columns of a panel for multiply_pairs().
int64_t pair_panel_columns();

// Computes y[i * y_row + j] = sum(a[i * 2 * pairs + l] * b(l, j) for l in [0, 2 * pairs)), for i in
// [0, m) and j in [0, n). b(l, j) is panel[(l / 2 * columns + j) * 2 + l % 2], where `columns` is
// pair_panel_columns(). n must be at most `columns`. Sums wrap at 32 bits. The sum of two adjacent
// products must fit into 32 bits.
void multiply_pairs(const int16_t* a, const int16_t* panel, int64_t m, int64_t n, int64_t pairs,
                    int32_t* y, int64_t y_row);

}  // namespace tenon_simd
