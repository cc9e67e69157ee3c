// The order of sort: converts elements to unsigned keys with the same order, and sorts the keys of
// a line together with their indices.

#pragma once

#include <cstring>
#include <memory>

#include "plugins/simd/kernels/axes.h"

namespace tenon_simd {

template <class T>
using Bits =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

// NaN comes last in either direction, and zeros of either sign have the same key.
template <class T>
Bits<T> key_of(T x, bool descending) {
  using Key = Bits<T>;
  constexpr Key kAll = static_cast<Key>(~Key{0});
  constexpr Key kTop = static_cast<Key>(Key{1} << (8 * sizeof(T) - 1));
  Key key;
  if constexpr (std::is_same_v<T, Bool>) {
    key = x.byte != 0 ? 1 : 0;
  } else if constexpr (tenon_sdk::kIsFloat<T>) {
    if (x != x) return kAll;
    std::memcpy(&key, &x, sizeof key);  // libc++ 14 has no std::bit_cast.
    if (x == 0) key = 0;
    key = static_cast<Key>((key & kTop) != 0 ? ~key : key | kTop);
  } else {
    key = static_cast<Key>(static_cast<Key>(x) ^ (std::is_signed_v<T> ? kTop : 0));
  }
  return static_cast<Key>(descending ? key ^ kAll : key);
}

template <class Word>
struct Ranked {
  Word key;
  Word place;
};

// Sorts the elements of one line after another. Items are distinct, because their indices differ,
// so every algorithm gives the same result. A Word must hold the keys and the indices.
template <class Word>
class Ranking {
 public:
  explicit Ranking(int64_t n)
      : n_(n), items_(new Ranked<Word>[at(n)]), spare_(new Ranked<Word>[at(n)]) {}

  const Ranked<Word>& operator[](int64_t i) const { return items_[at(i)]; }

  template <class T>
  void load(const Pool* pool, const T* x, int64_t stride, bool descending) {
    key_bytes_ = static_cast<int>(sizeof(T));
    over_ranges(pool, n_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        items_[at(i)] = {key_of(x[i * stride], descending), static_cast<Word>(i)};
      }
    });
  }

  // Sorts by key, then by index.
  void sort(const Pool* pool);

  // Moves the first k items of the order to the front, sorted.
  void sort_first(const Pool* pool, int64_t k);

  // Sorts the first k items by index.
  void sort_places(int64_t k);

  // Calls body(begin, end) for ranges of [0, n), in parallel if `pool` is not NULL.
  template <class Body>
  static void over_ranges(const Pool* pool, int64_t n, const Body& body) {
    if (pool != nullptr) {
      pool->parallel_ranges(n, kChunk, body);
    } else {
      body(int64_t{0}, n);
    }
  }

 private:
  static constexpr int64_t kChunk = 32 * 1024;

  static size_t at(int64_t i) { return static_cast<size_t>(i); }
  void sort_by_byte(const Pool* pool, int shift);

  int64_t n_;
  int key_bytes_ = 0;
  std::unique_ptr<Ranked<Word>[]> items_;
  std::unique_ptr<Ranked<Word>[]> spare_;
};

extern template class Ranking<uint32_t>;
extern template class Ranking<uint64_t>;

// Calls body(Type<Word>) with the smallest Word for n elements of type T.
template <class T, class Body>
void with_word(int64_t n, const Body& body) {
  if constexpr (sizeof(T) <= sizeof(uint32_t)) {
    if (n <= int64_t{UINT32_MAX}) {
      body(Type<uint32_t>{});
      return;
    }
  }
  body(Type<uint64_t>{});
}

}  // namespace tenon_simd
