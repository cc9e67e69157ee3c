// Products of 8-bit integers for processors with AVX512-VNNI. One of its instructions multiplies
// four unsigned bytes by four signed bytes and adds the four products to a 32-bit sum.

#pragma once

#include <cstdint>

namespace tenon_simd {

// Whether the processor supports the functions below.
#if defined(__x86_64__) && !defined(HWY_COMPILE_ONLY_STATIC)
bool has_vnni();
#else
constexpr bool has_vnni() { return false; }
#endif

constexpr int64_t kQuadColumns = 32;  // Number of columns of a panel.

// Arguments of multiply_quads(). Element (l, j) of b is at 4 * (l / 4 * kQuadColumns + j) + l % 4
// in the panel.
struct QuadProduct {
  const int8_t* a;                // Rows of 4 * quads elements.
  const int32_t *a_zero, *a_sum;  // Of each row.
  const uint8_t* panel;
  const int32_t *b_zero, *b_sum;  // Of each column of the panel.
  int64_t m, n, quads;            // n is at most kQuadColumns.
  int32_t* y;
  int64_t y_row;
};

// Computes y[i * y_row + j] = sum(a(i, l) * b(l, j) for l in [0, 4 * quads)) - a_zero[i] * b_sum[j]
// - b_zero[j] * a_sum[i], for i in [0, m) and j in [0, n). Integers wrap at 32 bits.
void multiply_quads(const QuadProduct& product);

// Packs a whole panel from `rows` rows of kQuadColumns bytes. `rows` must be a multiple of 4.
// Combines each byte with `flip` by exclusive or.
void pack_quads(const void* from, int64_t from_row, int64_t rows, uint8_t flip, uint8_t* panel);

// Computes the sum of each column of a panel.
void sum_quads(const uint8_t* panel, int64_t quads, int32_t* sums);

}  // namespace tenon_simd
