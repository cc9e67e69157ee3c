// The transforms of Winograd's minimal filtering algorithm F(4x4, 3x3): A. Lavin and S. Gray, "Fast
// Algorithms for Convolutional Neural Networks", 2016, section 4.3. An output tile of 4x4 elements
// is computed from an input tile of 6x6 elements by 36 products instead of 144.

#pragma once

#include <cstdint>

namespace tenon_simd {

constexpr int64_t kWinogradOut = 4, kWinogradIn = 6;
constexpr int64_t kWinogradTerms = kWinogradIn * kWinogradIn;

struct WinogradTransforms {
  // The number of lanes of a vector. Functions read and write whole vectors, which may extend past
  // the end of rows.
  int64_t lanes;
  // Separates a row of 4 * n elements into four phases: to[phase * step + i] = from[4 * i + phase].
  void (*split)(const float* from, int64_t n, float* to, int64_t step);
  // Transforms n neighbouring input tiles. Element (i, j) of tile t is at
  // from[i * row + j % 4 * phase + j / 4 + t]. Writes its term x to to[x * step + t].
  void (*input)(const float* from, int64_t row, int64_t phase, int64_t n, float* to, int64_t step);
  // Transforms one output tile of each of n filters. The term x of filter m is at
  // from[x * step + m]. Writes element e of the tile to to[e * n + m], plus bias[m] unless bias is
  // NULL.
  void (*output)(const float* from, int64_t step, int64_t n, const float* bias, float* to);
};

const WinogradTransforms& winograd_transforms();

}  // namespace tenon_simd
