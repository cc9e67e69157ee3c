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

// Vectors of at most kBytes, so that a line has at least one block.
template <class T, size_t kBytes = 64>
using Keys = hn::CappedTag<T, kBytes / sizeof(T)>;

// Compares each lane with the lane whose index differs in the bit kDistance. Stores the smaller key
// in the lane with the smaller index.
template <size_t kDistance, class D, class V>
HWY_INLINE V exchange_lanes(D d, V v) {
  using T = hn::TFromD<D>;
  if constexpr (kDistance == hn::MaxLanes(D()) / 2) {
    const V other = hn::ConcatLowerUpper(d, v, v);
    return hn::ConcatUpperLower(d, hn::Max(v, other), hn::Min(v, other));
  } else if constexpr (kDistance * sizeof(T) == 16) {
    const V other = hn::SwapAdjacentBlocks(v);
    return hn::OddEvenBlocks(hn::Max(v, other), hn::Min(v, other));
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
template <class D, class T = hn::TFromD<D>>
class Merger {
 public:
  // Stores the first vector from each end.
  HWY_INLINE Merger(D d, const T* from, size_t length, T* to)
      : n_(hn::Lanes(d)),
        a_(from),
        b_(from + length),
        a_end_(b_),
        b_end_(b_ + length),
        to_(to),
        to_end_(to + 2 * length) {
    auto front = hn::LoadU(d, a_), back = hn::LoadU(d, b_end_ - n_);
    front_rest_ = hn::LoadU(d, b_);
    back_rest_ = hn::LoadU(d, a_end_ - n_);
    store(d, front, back);
    a_ += n_;
    b_ += n_;
    a_end_ -= n_;
    b_end_ -= n_;
  }

  // Stores the next vector from each end.
  HWY_INLINE void step(D d) {
    const bool is_a = *a_ <= *b_, is_a_end = a_end_[-1] >= b_end_[-1];
    const auto front = hn::LoadU(d, is_a ? a_ : b_);
    a_ += is_a ? n_ : 0;
    b_ += is_a ? 0 : n_;
    a_end_ -= is_a_end ? n_ : 0;
    b_end_ -= is_a_end ? 0 : n_;
    store(d, front, hn::LoadU(d, is_a_end ? a_end_ : b_end_));
  }

 private:
  HWY_INLINE void store(D d, hn::Vec<D> front, hn::Vec<D> back) {
    merge(d, front, front_rest_);
    merge(d, back_rest_, back);
    hn::StoreU(front, d, to_);
    hn::StoreU(back, d, to_end_ -= n_);
    to_ += n_;
  }

  size_t n_;
  const T *a_, *b_, *a_end_, *b_end_;
  T *to_, *to_end_;
  hn::Vec<D> front_rest_, back_rest_;
};

// Merges all pairs of runs, two pairs at a time, whose computations the processor overlaps.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void merge_pairs(D d, const T* from, size_t length, T* to, size_t n) {
  const size_t pair = 2 * length, lanes = hn::Lanes(d);
  if (n == pair) {
    Merger<D> merger(d, from, length, to);
    for (size_t done = lanes; done < length; done += lanes) merger.step(d);
    return;
  }
  for (size_t i = 0; i < n; i += 2 * pair) {
    Merger<D> first(d, from + i, length, to + i);
    Merger<D> second(d, from + i + pair, length, to + i + pair);
    for (size_t done = lanes; done < length; done += lanes) {
      first.step(d);
      second.step(d);
    }
  }
}

// Number of vectors in which runs are merged in registers.
constexpr size_t kGroup = HWY_TARGET == HWY_AVX3 ? 16 : 8;

// Merges pairs of adjacent runs of kRun vectors until all vectors are one run.
template <size_t kRun, class D, class V>
HWY_INLINE void merge_group(D d, V (&v)[kGroup]) {
  static_assert(2 * kRun <= kGroup);
  HWY_UNROLL(16)
  for (size_t first = 0; first < kGroup; first += 2 * kRun) {
    V larger[kRun];
    HWY_UNROLL(16)
    for (size_t i = 0; i < kRun; ++i) {
      const V reversed = hn::Reverse(d, v[first + 2 * kRun - 1 - i]);
      larger[i] = hn::Max(v[first + i], reversed);
      v[first + i] = hn::Min(v[first + i], reversed);
    }
    HWY_UNROLL(16)
    for (size_t i = 0; i < kRun; ++i) v[first + kRun + i] = larger[i];
  }
  // Each half of a pair ascends and then descends.
  HWY_UNROLL(4)
  for (size_t distance = kRun / 2; distance > 0; distance /= 2) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < kGroup; ++i) {
      if ((i & distance) != 0) continue;
      const V smaller = hn::Min(v[i], v[i + distance]);
      v[i + distance] = hn::Max(v[i], v[i + distance]);
      v[i] = smaller;
    }
  }
  HWY_UNROLL(16)
  for (size_t i = 0; i < kGroup; ++i) v[i] = sort_bitonic<hn::MaxLanes(D()) / 2>(d, v[i]);
  if constexpr (2 * kRun < kGroup) merge_group<2 * kRun>(d, v);
}

// Merges runs of kSortRows keys to runs of kGroup vectors. With vectors of two lanes they have that
// length already.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void merge_in_registers(D d, T* keys, size_t n) {
  constexpr size_t kRun = kSortRows / hn::MaxLanes(D());
  if constexpr (kRun < kGroup) {
    const size_t lanes = hn::Lanes(d);
    for (size_t first = 0; first < n; first += kGroup * lanes) {
      hn::Vec<D> v[kGroup];
      HWY_UNROLL(16)
      for (size_t i = 0; i < kGroup; ++i) v[i] = hn::LoadU(d, keys + first + i * lanes);
      merge_group<kRun>(d, v);
      HWY_UNROLL(16)
      for (size_t i = 0; i < kGroup; ++i) hn::StoreU(v[i], d, keys + first + i * lanes);
    }
  }
}

// Sorts the columns of kSortRows vectors, and stores each column as a run.
template <class D, size_t... kAt, class T = hn::TFromD<D>>
HWY_INLINE void sort_columns(D d, const T* from, T* to, std::index_sequence<kAt...>) {
  const size_t n = hn::Lanes(d);
  using V = hn::Vec<D>;
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

template <class D, class T = hn::TFromD<D>>
T* sort_all(D d, T* keys, T* spare, size_t n) {
  const size_t block = kSortRows * hn::Lanes(d);
  for (size_t i = 0; i < n; i += block) {
    sort_columns(d, keys + i, spare + i, std::make_index_sequence<sort_network().size()>());
  }
  merge_in_registers(d, spare, n);
  for (size_t length = kGroup * hn::Lanes(d); length < n; length *= 2) {
    std::swap(keys, spare);
    merge_pairs(d, keys, length, spare, n);
  }
  return spare;
}

int32_t* sort_i32(int32_t* keys, int32_t* spare, size_t n) {
  if (n < kSortRows * hn::Lanes(Keys<int32_t>())) {
    return sort_all(Keys<int32_t, 32>(), keys, spare, n);
  }
  return sort_all(Keys<int32_t>(), keys, spare, n);
}
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
int64_t* sort_i64(int64_t* keys, int64_t* spare, size_t n) {
  return sort_all(Keys<int64_t>(), keys, spare, n);
}
double* sort_f64(double* keys, double* spare, size_t n) {
  return sort_all(Keys<double>(), keys, spare, n);
}
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
