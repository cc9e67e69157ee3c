#pragma once

#include <cstdint>

namespace tenon_simd {

// The length of 16-bit rows is a multiple of this, padded with zeros.
constexpr int64_t kPairStep = 32;

// y[i * y_row + j] = sum(a[i * k + l] * b[j * k + l] for l of [0, k)), for i of [0, m) and j of [0,
// n). `k` is a multiple of kPairStep. Sums wrap at 32 bits; the sum of two adjacent products must
// fit.
void multiply_pairs(const int16_t* a, const int16_t* b, int64_t m, int64_t n, int64_t k, int32_t* y,
                    int64_t y_row);

}  // namespace tenon_simd
