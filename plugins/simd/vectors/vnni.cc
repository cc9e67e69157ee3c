#include "plugins/simd/vectors/vnni.h"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "plugins/simd/vectors/dispatch.h"

#if defined(__x86_64__) && !defined(HWY_COMPILE_ONLY_STATIC)

#include <immintrin.h>

HWY_PUSH_ATTRIBUTES("avx512f,avx512vl,avx512bw,avx512dq,avx512cd,avx512vnni")
namespace tenon_simd {
namespace {

// Size of a tile. Of 32 vector registers, 28 are sums, two hold a quad of the panel's rows and one
// holds a quad of `a`.
constexpr int64_t kTileRows = 14;
constexpr int64_t kLanes = 16;
constexpr int kVectors = 2;
static_assert(kQuadColumns == kVectors * kLanes);

// GCC 12 stores sums in memory if their type is __m512i.
using Sums = int32_t __attribute__((vector_size(64)));

// Subtracts the terms of the zero points from a vector of sums, and stores the results. `i`: row.
// `j`: first column.
HWY_INLINE void store(const QuadProduct& product, int64_t i, int64_t j, __m512i sum) {
  const __m512i a_zero = _mm512_set1_epi32(product.a_zero[i]);
  const __m512i a_sum = _mm512_set1_epi32(product.a_sum[i]);
  const __m512i b_sum = _mm512_loadu_si512(product.b_sum + j);
  const __m512i b_zero = _mm512_loadu_si512(product.b_zero + j);
  sum = _mm512_sub_epi32(sum, _mm512_mullo_epi32(a_zero, b_sum));
  sum = _mm512_sub_epi32(sum, _mm512_mullo_epi32(b_zero, a_sum));
  const int64_t used = std::clamp<int64_t>(product.n - j, 0, kLanes);
  const auto mask = static_cast<__mmask16>((1U << used) - 1);
  _mm512_mask_storeu_epi32(product.y + i * product.y_row + j, mask, sum);
}

// Computes kRows rows of multiply_quads(), beginning with row `first`.
template <int kRows>
void tile(const QuadProduct& product, int64_t first) {
  const int64_t a_row = 4 * product.quads;
  Sums sum[kRows][kVectors];
  HWY_UNROLL(16)
  for (int i = 0; i < kRows; ++i) {
    HWY_UNROLL(2)
    for (int v = 0; v < kVectors; ++v) sum[i][v] = Sums{};
  }
  // Three rows share a pointer, so that all addresses fit into the general-purpose registers.
  constexpr int kGroups = (kRows + 2) / 3;
  const int8_t* a[kGroups];
  HWY_UNROLL(16)
  for (int g = 0; g < kGroups; ++g) a[g] = product.a + (first + 3 * g) * a_row;
  const uint8_t* panel = product.panel;
  for (int64_t quad = 0; quad < product.quads; ++quad, panel += 4 * kQuadColumns) {
    __m512i quads[kVectors];
    HWY_UNROLL(2)
    for (int v = 0; v < kVectors; ++v) quads[v] = _mm512_loadu_si512(panel + v * 4 * kLanes);
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) {
      int32_t bytes;
      std::memcpy(&bytes, a[i / 3] + i % 3 * a_row, sizeof bytes);
      const __m512i factors = _mm512_set1_epi32(bytes);
      HWY_UNROLL(2)
      for (int v = 0; v < kVectors; ++v) {
        const auto before = reinterpret_cast<__m512i>(sum[i][v]);
        sum[i][v] = reinterpret_cast<Sums>(_mm512_dpbusd_epi32(before, quads[v], factors));
      }
    }
    HWY_UNROLL(16)
    for (int g = 0; g < kGroups; ++g) a[g] += 4;
  }
  HWY_UNROLL(16)
  for (int i = 0; i < kRows; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      store(product, first + i, v * kLanes, reinterpret_cast<__m512i>(sum[i][v]));
    }
  }
}

// Computes `rows` rows by the tile of that height.
template <int kRows>
void tile_of(const QuadProduct& product, int64_t first, int64_t rows) {
  if (rows == kRows) return tile<kRows>(product, first);
  if constexpr (kRows > 1) tile_of<kRows - 1>(product, first, rows);
}

}  // namespace

void multiply_quads(const QuadProduct& product) {
  // Low tiles are slow, so all tiles have nearly the same height.
  const int64_t tiles = (product.m + kTileRows - 1) / kTileRows;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t begin = i * product.m / tiles, end = (i + 1) * product.m / tiles;
    tile_of<kTileRows>(product, begin, end - begin);
  }
}

void pack_quads(const void* from, int64_t from_row, int64_t rows, uint8_t flip, uint8_t* panel) {
  const auto* at = static_cast<const uint8_t*>(from);
  // Rows are prefetched, because they are too short for the hardware prefetcher.
  constexpr int64_t kAhead = 32;
  const __m256i flips = _mm256_set1_epi8(static_cast<char>(flip));
  for (int64_t l = 0; l < rows; l += 4, at += 4 * from_row, panel += 4 * kQuadColumns) {
    __m256i row[4];
    HWY_UNROLL(4)
    for (int i = 0; i < 4; ++i) {
      const uint8_t* const bytes = at + i * from_row;
      _mm_prefetch(bytes + kAhead * from_row, _MM_HINT_T0);
      row[i] = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes)), flips);
    }
    const __m256i low01 = _mm256_unpacklo_epi8(row[0], row[1]);
    const __m256i low23 = _mm256_unpacklo_epi8(row[2], row[3]);
    const __m256i high01 = _mm256_unpackhi_epi8(row[0], row[1]);
    const __m256i high23 = _mm256_unpackhi_epi8(row[2], row[3]);
    // Each 16-byte half has four columns.
    const __m256i q0 = _mm256_unpacklo_epi16(low01, low23);
    const __m256i q1 = _mm256_unpackhi_epi16(low01, low23);
    const __m256i q2 = _mm256_unpacklo_epi16(high01, high23);
    const __m256i q3 = _mm256_unpackhi_epi16(high01, high23);
    auto* const to = reinterpret_cast<__m256i*>(panel);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(q0, q1, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(q2, q3, 0x20));
    _mm256_storeu_si256(to + 2, _mm256_permute2x128_si256(q0, q1, 0x31));
    _mm256_storeu_si256(to + 3, _mm256_permute2x128_si256(q2, q3, 0x31));
  }
}

void sum_quads(const uint8_t* panel, int64_t quads, int32_t* sums) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i left = _mm512_setzero_si512(), right = left;
  for (int64_t quad = 0; quad < quads; ++quad, panel += 4 * kQuadColumns) {
    left = _mm512_dpbusd_epi32(left, _mm512_loadu_si512(panel), ones);
    right = _mm512_dpbusd_epi32(right, _mm512_loadu_si512(panel + 4 * kLanes), ones);
  }
  _mm512_storeu_si512(sums, left);
  _mm512_storeu_si512(sums + kLanes, right);
}

}  // namespace tenon_simd
HWY_POP_ATTRIBUTES

namespace tenon_simd {

bool has_vnni() {
  static const bool has = [] {
    __builtin_cpu_init();
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
  }();
  return has;
}

}  // namespace tenon_simd

#else

namespace tenon_simd {

void multiply_quads(const QuadProduct&) {}
void pack_quads(const void*, int64_t, int64_t, uint8_t, uint8_t*) {}
void sum_quads(const uint8_t*, int64_t, int32_t*) {}

}  // namespace tenon_simd

#endif
