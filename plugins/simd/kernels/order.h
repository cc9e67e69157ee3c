// Defines the order of sort. Converts elements to unsigned keys with the same order, and sorts the
// keys of a line, with the elements' indices or alone.

#pragma once

#include <memory>

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/wide_launch.h"

namespace tenon_simd {

// Returns the dtype in which elements are sorted. It has the same order.
inline tenon_dtype sort_dtype(tenon_dtype dtype) {
  if (!kIsCompact) return dtype;
  return wide_dtype<float, double, int32_t, uint32_t, int64_t, uint64_t>(dtype);
}
// Prepares a kernel for a compact build: through_wide() for the dtypes that sort_dtype() returns.
template <class Function>
Prepared through_sort_dtype(tenon_dtype dtype, const Function& function) {
  return through_wide<float, double, int32_t, uint32_t, int64_t, uint64_t>(dtype, function);
}

// Describes how the bits of a dtype's elements are ordered, so that one loop sorts all dtypes of
// the same size.
struct KeyRule {
  enum class Kind { kBool, kUnsigned, kSigned, kFloat };

  explicit KeyRule(tenon_dtype dtype);

  Kind kind = Kind::kUnsigned;
  uint64_t infinity = 0;  // The bits of infinity. Without the sign bit, the bits of NaN are larger.
};

template <class Word>
struct Ranked {
  Word key;
  Word place;
};

// Sorts the elements of one line at a time. Items (key, index) are distinct, because their indices
// differ, so every algorithm gives the same result. A Word must be able to hold keys and indices.
template <class Word>
class Ranking {
 public:
  explicit Ranking(int64_t n)
      : n_(n), items_(new Ranked<Word>[at(n)]), spare_(new Ranked<Word>[at(n)]) {}

  const Ranked<Word>& operator[](int64_t i) const { return items_[at(i)]; }

  // Loads elements that are `stride` elements apart. NaN sorts last in ascending and in descending
  // order.
  template <class U>
  void load(const Pool* pool, const U* x, int64_t stride, const KeyRule& rule, bool descending);

  // Sorts by key, then by index.
  void sort(const Pool* pool);

  // Moves the first `k` items in sorted order to the front. The order of the other items is
  // unspecified.
  void sort_first(const Pool* pool, int64_t k);

  // Sorts the first k items by index.
  void sort_by_index(int64_t k);

  // Calls body(begin, end) for ranges of [0, n), in parallel if `pool` is not NULL.
  template <class Body>
  static void for_each_range(const Pool* pool, int64_t n, const Body& body) {
    if (pool != nullptr) {
      pool->parallel_ranges(n, kChunk, body);
    } else {
      body(int64_t{0}, n);
    }
  }

 private:
  static constexpr int64_t kChunk = 32 * 1024;

  // Converts an index to size_t.
  static size_t at(int64_t i) { return static_cast<size_t>(i); }

  // Stores the keys and indices of the elements as items.
  template <KeyRule::Kind kKind, class U>
  void load_keys(const Pool* pool, const U* x, int64_t stride, U infinity, bool descending);
  // Sorts by the byte of the key that begins at bit `shift`; keeps the order of items with equal
  // bytes. Uses all threads of the pool.
  void sort_by_byte(const Pool& pool, int shift);

  int64_t n_;
  int key_bytes_ = 0;
  std::unique_ptr<Ranked<Word>[]> items_;
  std::unique_ptr<Ranked<Word>[]> spare_;
};

extern template class Ranking<uint32_t>;
extern template class Ranking<uint64_t>;

// Sorts the elements of one line at a time without their indices, on the calling thread. U is the
// unsigned integer of the size of the elements. Keys of 4 and 8 bytes are signed integers or
// float64 (vectors/sort_keys.h); smaller keys are unsigned.
template <class U>
class KeySort {
 public:
  KeySort(int64_t n, const KeyRule& rule, bool descending);

  // Loads contiguous elements. Returns false if the line contains NaN or -0, or for bools: the
  // order of elements with the same key then depends on their indices.
  bool load(const U* x);

  // Stores the elements in sorted order, `step` elements apart.
  void sort_to(U* y, int64_t step);

 private:
  template <KeyRule::Kind kKind>
  bool load_keys(const U* x);
  template <KeyRule::Kind kKind>
  void store(U* y, int64_t step) const;
  // Sorts the keys, and stores the result in keys_.
  void sort();

  const int64_t n_;
  const size_t n_keys_;  // With those that pad the line.
  const KeyRule rule_;
  const bool descending_;
  std::unique_ptr<U[]> keys_;
  std::unique_ptr<U[]> spare_;
};

extern template class KeySort<uint8_t>;
extern template class KeySort<uint16_t>;
extern template class KeySort<uint32_t>;
extern template class KeySort<uint64_t>;

// Calls body(Type<Word>) with the smallest Word for `n` elements of the size of T; with uint64_t in
// compact builds.
template <class T, class Body>
void with_word(int64_t n, const Body& body) {
  if constexpr (sizeof(T) <= sizeof(uint32_t) && !kIsCompact) {
    if (n <= int64_t{UINT32_MAX}) {
      body(Type<uint32_t>{});
      return;
    }
  }
  body(Type<uint64_t>{});
}

}  // namespace tenon_simd
