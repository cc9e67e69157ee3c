#pragma once

#include <cstdint>

namespace tenon_simd {

// The number of columns of a panel of multiply_pairs.
int64_t pair_panel_columns();

// y[i * y_row + j] = sum(a[i * 2 * pairs + l] * b(l, j) for l of [0, 2 * pairs)), for i of [0, m)
// and j of [0, n), where b(l, j) is panel[(l / 2 * columns + j) * 2 + l % 2], `columns` is
// pair_panel_columns(), and n is at most that. Sums wrap at 32 bits; the sum of two adjacent
// products must fit.
void multiply_pairs(const int16_t* a, const int16_t* panel, int64_t m, int64_t n, int64_t pairs,
                    int32_t* y, int64_t y_row);

}  // namespace tenon_simd
