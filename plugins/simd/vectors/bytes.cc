// The tiles of int8_matmul. One instruction multiplies pairs of 16-bit numbers and adds the two
// products of each pair in 32 bits.

#include "plugins/simd/vectors/bytes.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/bytes.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/kernels/elementwise.h"
#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

// Size of a tile. The sums use all vector registers except those for a row of the panel and for a
// pair of `a`.
#if HWY_TARGET == HWY_AVX3
constexpr size_t kTileRows = 12;
#else
constexpr size_t kTileRows = 4;
#endif
constexpr size_t kTileVectors = 2;
constexpr hn::ScalableTag<int32_t> kSums;
using Sums = hn::Vec<decltype(kSums)>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(kSums));

// Adds the products of both 16-bit halves of each lane to its sum.
HWY_INLINE Sums add_pairs(Sums a, Sums b, Sums sum) {
#if HWY_ARCH_X86 || HWY_ARCH_WASM
  const hn::Repartition<int16_t, decltype(kSums)> d;
  Sums unused = hn::Zero(kSums);
  return hn::ReorderWidenMulAccumulate(kSums, hn::BitCast(d, a), hn::BitCast(d, b), sum, unused);
#else
  const auto low = [](Sums v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(v)); };
  sum = hn::Add(sum, hn::Mul(low(a), low(b)));
  return hn::Add(sum, hn::Mul(hn::ShiftRight<16>(a), hn::ShiftRight<16>(b)));
#endif
}

// Computes kRows rows and at most one tile of columns of multiply_pairs().
template <size_t kRows>
void tile(const int16_t* a, const int16_t* panel, int64_t n, int64_t pairs, int32_t* y,
          int64_t y_row) {
  Sums sum[kRows][kTileVectors];
  HWY_UNROLL(16)
  for (size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(2)
    for (size_t v = 0; v < kTileVectors; ++v) sum[i][v] = hn::Zero(kSums);
  }
  for (int64_t p = 0; p < pairs; ++p, a += 2, panel += 2 * kTileVectors * kLanes) {
    Sums right[kTileVectors];
    HWY_UNROLL(2)
    for (size_t v = 0; v < kTileVectors; ++v) {
      int32_t const* const at = reinterpret_cast<const int32_t*>(panel);
      right[v] = hn::LoadU(kSums, at + static_cast<int64_t>(v) * kLanes);
    }
    HWY_UNROLL(16)
    for (size_t i = 0; i < kRows; ++i) {
      int32_t pair;
      std::memcpy(&pair, a + static_cast<int64_t>(i) * 2 * pairs, sizeof pair);
      const Sums left = hn::Set(kSums, pair);
      HWY_UNROLL(2)
      for (size_t v = 0; v < kTileVectors; ++v) sum[i][v] = add_pairs(left, right[v], sum[i][v]);
    }
  }
  HWY_UNROLL(16)
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t v = 0; v < kTileVectors; ++v) {
      const int64_t j = static_cast<int64_t>(v) * kLanes;
      int32_t* const to = y + static_cast<int64_t>(i) * y_row + j;
      if (n - j >= kLanes) {
        hn::StoreU(sum[i][v], kSums, to);
      } else if (n > j) {
        store_some(sum[i][v], kSums, to, static_cast<size_t>(n - j));
      }
    }
  }
}

// Implements multiply_pairs() for one instruction set.
void multiply_pairs_of(const int16_t* a, const int16_t* panel, int64_t m, int64_t n, int64_t pairs,
                       int32_t* y, int64_t y_row) {
  const auto step = [&](auto run, int64_t rows) {
    run(a, panel, n, pairs, y, y_row);
    a += rows * 2 * pairs;
    y += rows * y_row;
    m -= rows;
  };
  constexpr int64_t kWhole = kTileRows;
  while (m >= kWhole) step(tile<kTileRows>, kWhole);
  if (m >= 8) step(tile<8>, 8);
  if (m >= 4) step(tile<4>, 4);
  if (m >= 2) step(tile<2>, 2);
  if (m >= 1) step(tile<1>, 1);
}

// Implements pair_panel_columns() for one instruction set.
int64_t columns_of_panel() { return kTileVectors * kLanes; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

int64_t pair_panel_columns() { return TENON_SIMD_CHOOSE(columns_of_panel)(); }

void multiply_pairs(const int16_t* a, const int16_t* panel, int64_t m, int64_t n, int64_t pairs,
                    int32_t* y, int64_t y_row) {
  TENON_SIMD_CHOOSE(multiply_pairs_of)(a, panel, m, n, pairs, y, y_row);
}

}  // namespace tenon_simd
#endif
