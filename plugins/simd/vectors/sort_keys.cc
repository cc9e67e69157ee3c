// Merge sort of keys without branches. A sorting network sorts the columns of blocks of 16 vectors.
// The columns become runs of 16 keys, which are merged in pairs. Vectors have at most 32 bytes, so
// that a run is longer than a vector.

#include "plugins/simd/vectors/sort_keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include "plugins/simd/kernels/transposed.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/sort_keys.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/vectors/dispatch.h"

#ifndef TENON_SIMD_SORT_NETWORK_
#define TENON_SIMD_SORT_NETWORK_
namespace tenon_simd {

constexpr size_t kSortRows = 16;

struct Exchange {
  size_t low, high;
};

// Returns the exchanges of Batcher's odd-even merge sort of kSortRows keys.
constexpr std::array<Exchange, 63> sort_network() {
  std::array<Exchange, 63> exchanges{};
  size_t n = 0;
  for (size_t p = 1; p < kSortRows; p *= 2) {
    for (size_t k = p; k > 0; k /= 2) {
      for (size_t j = k % p; j + k < kSortRows; j += 2 * k) {
        for (size_t i = j; i < std::min(j + k, kSortRows - k); ++i) {
          if (i / (2 * p) == (i + k) / (2 * p)) exchanges[n++] = {i, i + k};
        }
      }
    }
  }
  return exchanges;
}

}  // namespace tenon_simd
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Keys = hn::CappedTag<T, 32 / sizeof(T)>;

// Compares each lane with the lane whose index differs in the bit kDistance. Stores the smaller key
// in the lane with the smaller index.
template <size_t kDistance, class D, class V>
HWY_INLINE V exchange_lanes(D d, V v) {
  using T = hn::TFromD<D>;
  if constexpr (kDistance == hn::MaxLanes(D()) / 2) {
    const V other = hn::ConcatLowerUpper(d, v, v);
    return hn::ConcatUpperLower(d, hn::Max(v, other), hn::Min(v, other));
  } else if constexpr (kDistance == 2) {
    const hn::Repartition<uint64_t, D> pairs;
    const V other = hn::Shuffle1032(v);
    return hn::BitCast(d, hn::OddEven(hn::BitCast(pairs, hn::Max(v, other)),
                                      hn::BitCast(pairs, hn::Min(v, other))));
  } else if constexpr (sizeof(T) == 4) {
    const V other = hn::Shuffle2301(v);
    return hn::OddEven(hn::Max(v, other), hn::Min(v, other));
  } else {
    const V other = hn::Shuffle01(v);
    return hn::OddEven(hn::Max(v, other), hn::Min(v, other));
  }
}

// Sorts a vector whose keys ascend and then descend.
template <size_t kDistance, class D, class V>
HWY_INLINE V sort_bitonic(D d, V v) {
  v = exchange_lanes<kDistance>(d, v);
  if constexpr (kDistance > 1) v = sort_bitonic<kDistance / 2>(d, v);
  return v;
}

// Merges two sorted vectors: the smaller half of the keys is stored in `low`, the rest in `high`.
template <class D, class V>
HWY_INLINE void merge(D d, V& low, V& high) {
  constexpr size_t kHalf = hn::MaxLanes(D()) / 2;
  const V reversed = hn::Reverse(d, high);
  const V smaller = hn::Min(low, reversed), larger = hn::Max(low, reversed);
  low = sort_bitonic<kHalf>(d, smaller);
  high = sort_bitonic<kHalf>(d, larger);
}

// Merges two adjacent runs of `length` keys. Computes the smaller half of the result from the front
// and the larger half from the back. Neither reads beyond the runs. The two computations are
// independent, so the processor overlaps them.
template <class T>
HWY_INLINE void merge_runs(const T* from, size_t length, T* to) {
  const Keys<T> d;
  const size_t n = hn::Lanes(d);
  const T *a = from, *b = from + length, *a_end = b, *b_end = b + length;
  auto front = hn::LoadU(d, a), front_rest = hn::LoadU(d, b);
  auto back_rest = hn::LoadU(d, a_end - n), back = hn::LoadU(d, b_end - n);
  merge(d, front, front_rest);
  merge(d, back_rest, back);
  T* to_end = to + 2 * length;
  hn::StoreU(front, d, to);
  hn::StoreU(back, d, to_end -= n);
  a += n;
  b += n;
  a_end -= n;
  b_end -= n;
  for (size_t done = n; done < length; done += n) {
    const bool is_a = *a <= *b, is_a_end = a_end[-1] >= b_end[-1];
    front = hn::LoadU(d, is_a ? a : b);
    a += is_a ? n : 0;
    b += is_a ? 0 : n;
    a_end -= is_a_end ? n : 0;
    b_end -= is_a_end ? 0 : n;
    back = hn::LoadU(d, is_a_end ? a_end : b_end);
    merge(d, front, front_rest);
    merge(d, back_rest, back);
    hn::StoreU(front, d, to += n);
    hn::StoreU(back, d, to_end -= n);
  }
}

// Sorts the columns of kSortRows vectors, and stores each column as a run.
template <class T, size_t... kAt>
HWY_INLINE void sort_columns(const T* from, T* to, std::index_sequence<kAt...>) {
  const Keys<T> d;
  const size_t n = hn::Lanes(d);
  using V = hn::Vec<Keys<T>>;
  V v[kSortRows];
  HWY_UNROLL(16)
  for (size_t i = 0; i < kSortRows; ++i) v[i] = hn::LoadU(d, from + i * n);
  constexpr auto kNetwork = sort_network();
  const auto exchange = [&v](size_t low, size_t high) HWY_ATTR {
    const V smaller = hn::Min(v[low], v[high]);
    v[high] = hn::Max(v[low], v[high]);
    v[low] = smaller;
  };
  (exchange(kNetwork[kAt].low, kNetwork[kAt].high), ...);
  HWY_ALIGN T sorted[kSortRows * hn::MaxLanes(d)];
  HWY_UNROLL(16)
  for (size_t i = 0; i < kSortRows; ++i) hn::Store(v[i], d, sorted + i * n);
  copy_transposed_elements(sorted, static_cast<int64_t>(n), to, int64_t{kSortRows},
                           static_cast<int64_t>(n), int64_t{kSortRows});
}

template <class T>
T* sort_all(T* keys, T* spare, size_t n) {
  const size_t block = kSortRows * hn::Lanes(Keys<T>());
  for (size_t i = 0; i < n; i += block) {
    sort_columns(keys + i, spare + i, std::make_index_sequence<sort_network().size()>());
  }
  for (size_t length = kSortRows; length < n; length *= 2) {
    std::swap(keys, spare);
    for (size_t i = 0; i < n; i += 2 * length) merge_runs(keys + i, length, spare + i);
  }
  return spare;
}

int32_t* sort_i32(int32_t* keys, int32_t* spare, size_t n) { return sort_all(keys, spare, n); }
#if HWY_TARGET == HWY_WASM  // Highway has no vectors of 8-byte numbers with Min() on WebAssembly.
int64_t* sort_i64(int64_t* keys, int64_t*, size_t n) {
  std::sort(keys, keys + n);
  return keys;
}
double* sort_f64(double* keys, double*, size_t n) {
  std::sort(keys, keys + n);
  return keys;
}
#else
int64_t* sort_i64(int64_t* keys, int64_t* spare, size_t n) { return sort_all(keys, spare, n); }
double* sort_f64(double* keys, double* spare, size_t n) { return sort_all(keys, spare, n); }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

int32_t* sort_keys(int32_t* keys, int32_t* spare, size_t n) {
  return TENON_SIMD_CHOOSE(sort_i32)(keys, spare, n);
}
int64_t* sort_keys(int64_t* keys, int64_t* spare, size_t n) {
  return TENON_SIMD_CHOOSE(sort_i64)(keys, spare, n);
}
double* sort_keys(double* keys, double* spare, size_t n) {
  return TENON_SIMD_CHOOSE(sort_f64)(keys, spare, n);
}

}  // namespace tenon_simd
#endif
