// The inner products of int8_matmul: one instruction multiplies pairs of 16-bit numbers and adds
// each pair's products in 32 bits.

#include "plugins/simd/vectors/bytes.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/bytes.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/vectors/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Twelve sums and four rows of b use all sixteen registers.
constexpr size_t kTileRows = 3, kTileColumns = 4;

template <size_t kRows, size_t kColumns>
void tile(const int16_t* a, const int16_t* b, int64_t k, int32_t* y, int64_t y_row) {
  const hn::ScalableTag<int16_t> d;
  const hn::Repartition<int32_t, decltype(d)> d32;
  constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  static_assert(kPairStep % kLanes == 0);
  using V = hn::Vec<decltype(d32)>;
  V sum[kRows][kColumns], rest[kRows][kColumns];  // Some processors also accumulate into `rest`.
  HWY_UNROLL(16)
  for (size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(16)
    for (size_t j = 0; j < kColumns; ++j) sum[i][j] = rest[i][j] = hn::Zero(d32);
  }
  for (int64_t l = 0; l < k; l += kLanes) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < kRows; ++i) {
      const auto left = hn::LoadU(d, a + static_cast<int64_t>(i) * k + l);
      HWY_UNROLL(16)
      for (size_t j = 0; j < kColumns; ++j) {
        const auto right = hn::LoadU(d, b + static_cast<int64_t>(j) * k + l);
        sum[i][j] = hn::ReorderWidenMulAccumulate(d32, left, right, sum[i][j], rest[i][j]);
      }
    }
  }
  HWY_UNROLL(16)
  for (size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(16)
    for (size_t j = 0; j < kColumns; ++j) {
      y[static_cast<int64_t>(i) * y_row + static_cast<int64_t>(j)] =
          hn::GetLane(hn::SumOfLanes(d32, hn::Add(sum[i][j], rest[i][j])));
    }
  }
}

using Tile = void (*)(const int16_t* a, const int16_t* b, int64_t k, int32_t* y, int64_t y_row);

constexpr Tile kTiles[kTileRows][kTileColumns] = {
    {tile<1, 1>, tile<1, 2>, tile<1, 3>, tile<1, 4>},
    {tile<2, 1>, tile<2, 2>, tile<2, 3>, tile<2, 4>},
    {tile<3, 1>, tile<3, 2>, tile<3, 3>, tile<3, 4>},
};

void multiply_pairs_of(const int16_t* a, const int16_t* b, int64_t m, int64_t n, int64_t k,
                       int32_t* y, int64_t y_row) {
  constexpr int64_t kMaxTile[] = {kTileRows, kTileColumns};
  for (int64_t j = 0; j < n; j += kMaxTile[1]) {
    const int64_t columns = std::min(n - j, kMaxTile[1]);
    for (int64_t i = 0; i < m; i += kMaxTile[0]) {
      const int64_t rows = std::min(m - i, kMaxTile[0]);
      kTiles[rows - 1][columns - 1](a + i * k, b + j * k, k, y + i * y_row + j, y_row);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

void multiply_pairs(const int16_t* a, const int16_t* b, int64_t m, int64_t n, int64_t k, int32_t* y,
                    int64_t y_row) {
  TENON_SIMD_CHOOSE(multiply_pairs_of)(a, b, m, n, k, y, y_row);
}

}  // namespace tenon_simd
#endif
