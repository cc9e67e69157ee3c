#include "plugins/simd/kernels/order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "plugins/simd/vectors/sort_keys.h"

namespace tenon_simd {
namespace {

// Converts the bits of an element to an unsigned key with the same order. NaN has the largest key,
// and zeros of both signs have the same key.
template <KeyRule::Kind kKind, class U>
U key_of(U bits, U infinity) {
  constexpr U kTop = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  if constexpr (kKind == KeyRule::Kind::kBool) {
    return bits != 0 ? 1 : 0;
  } else if constexpr (kKind == KeyRule::Kind::kSigned) {
    return static_cast<U>(bits ^ kTop);
  } else if constexpr (kKind == KeyRule::Kind::kFloat) {
    const U magnitude = static_cast<U>(bits & ~kTop);
    if (magnitude > infinity) return static_cast<U>(~U{0});
    if (magnitude == 0) return kTop;
    return static_cast<U>((bits & kTop) != 0 ? ~bits : bits | kTop);
  } else {
    return bits;
  }
}

// Maximum number of elements that are sorted by comparisons.
constexpr int64_t kShortLine = 48;

// Sorts fewer than 2^32 items by their keys, and keeps the order of items with equal keys. Returns
// whether the result is in `spare` instead of `items`. Each pass of this radix sort orders the
// items by one byte of the distance from the smallest key, the least significant byte first. Bytes
// that are 0 in all distances need no pass.
template <class Key, class Item, class KeyOf>
bool radix_sort(Item* items, Item* spare, int64_t n, const KeyOf& key_of_item) {
  Key least = key_of_item(items[0]), greatest = least;
  for (int64_t i = 1; i < n; ++i) {
    const Key key = key_of_item(items[i]);
    least = std::min(least, key);
    greatest = std::max(greatest, key);
  }
  bool is_in_spare = false;
  auto range = static_cast<uint64_t>(greatest - least);
  for (int shift = 0; range != 0; shift += 8, range >>= 8) {
    const auto byte_of = [=](const Item& item) {
      const auto distance = static_cast<Key>(key_of_item(item) - least);
      return static_cast<uint8_t>(distance >> shift);
    };
    uint32_t next[256] = {};
    for (int64_t i = 0; i < n; ++i) ++next[byte_of(items[i])];
    uint32_t total = 0;
    for (uint32_t& count : next) total += std::exchange(count, total);
    for (int64_t i = 0; i < n; ++i) spare[next[byte_of(items[i])]++] = items[i];
    std::swap(items, spare);
    is_in_spare = !is_in_spare;
  }
  return is_in_spare;
}

// Whether `a` comes before `b`: by key, and by index if the keys are equal.
template <class Word>
bool precedes(const Ranked<Word>& a, const Ranked<Word>& b) {
  return a.key != b.key ? a.key < b.key : a.place < b.place;
}

}  // namespace

KeyRule::KeyRule(tenon_dtype dtype) {
  if (is_float(dtype)) {
    kind = Kind::kFloat;
    infinity = dispatch<tenon_sdk::Floats>(dtype, []<class T>(Type<T>) {
      const T infinite = static_cast<T>(HUGE_VAL);
      uint64_t bits = 0;
      std::memcpy(&bits, &infinite, sizeof infinite);
      return bits;
    });
  } else if (dtype == TENON_BOOL) {
    kind = Kind::kBool;
  } else if (TENON_DTYPE_CODE(dtype) == TENON_CODE_INT) {
    kind = Kind::kSigned;
  }
}

template <class Word>
template <KeyRule::Kind kKind, class U>
void Ranking<Word>::load_keys(const Pool* pool, const U* x, int64_t stride, U infinity,
                              bool descending) {
  constexpr U kAll = static_cast<U>(~U{0});
  key_bytes_ = static_cast<int>(sizeof(U));
  const U flip = descending ? kAll : U{0};
  for_each_range(pool, n_, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const U key = key_of<kKind>(x[i * stride], infinity);
      const bool is_nan = kKind == KeyRule::Kind::kFloat && key == kAll;
      items_[at(i)] = {static_cast<U>(is_nan ? key : key ^ flip), static_cast<Word>(i)};
    }
  });
}

template <class Word>
template <class U>
void Ranking<Word>::load(const Pool* pool, const U* x, int64_t stride, const KeyRule& rule,
                         bool descending) {
  switch (rule.kind) {
    case KeyRule::Kind::kBool:
      return load_keys<KeyRule::Kind::kBool>(pool, x, stride, U{0}, descending);
    case KeyRule::Kind::kUnsigned:
      return load_keys<KeyRule::Kind::kUnsigned>(pool, x, stride, U{0}, descending);
    case KeyRule::Kind::kSigned:
      return load_keys<KeyRule::Kind::kSigned>(pool, x, stride, U{0}, descending);
    case KeyRule::Kind::kFloat:
      return load_keys<KeyRule::Kind::kFloat>(pool, x, stride, static_cast<U>(rule.infinity),
                                              descending);
  }
}

// Short lines are sorted by comparisons, because the histograms of a radix sort would cost more.
template <class Word>
void Ranking<Word>::sort(const Pool* pool) {
  Ranked<Word>* const items = items_.get();
  if (n_ <= kShortLine) {
    std::sort(items, items + n_, precedes<Word>);
    return;
  }
  if (pool == nullptr || n_ < 2 * kChunk) {
    const auto key_of_item = [](const Ranked<Word>& item) { return item.key; };
    if (radix_sort<Word>(items, spare_.get(), n_, key_of_item)) items_.swap(spare_);
    return;
  }
  for (int byte = 0; byte < key_bytes_; ++byte) sort_by_byte(*pool, 8 * byte);
}

// Each chunk counts its bytes, derives its target positions from the counts, and moves its items.
template <class Word>
void Ranking<Word>::sort_by_byte(const Pool& pool, int shift) {
  using Counts = std::array<int64_t, 256>;
  const int64_t n_chunks = std::clamp<int64_t>(n_ / kChunk, 1, 64);
  const int64_t step = (n_ + n_chunks - 1) / n_chunks;
  std::vector<Counts> next(at(n_chunks), Counts{});
  const auto for_each_chunk = [&](const auto& body) {
    pool.parallel_for(n_chunks, [&](int64_t chunk) {
      const int64_t end = std::min(n_, (chunk + 1) * step);
      Counts& counts = next[at(chunk)];
      for (int64_t i = chunk * step; i < end; ++i) {
        body(items_[at(i)], counts[items_[at(i)].key >> shift & 0xff]);
      }
    });
  };

  for_each_chunk([](const Ranked<Word>&, int64_t& count) { ++count; });
  int64_t total = 0;
  for (size_t byte = 0; byte < 256; ++byte) {
    const int64_t before = total;
    for (Counts& counts : next) {
      const int64_t n = counts[byte];
      counts[byte] = total;
      total += n;
    }
    if (total - before == n_) return;  // All items have the same value in this byte.
  }
  for_each_chunk([&](const Ranked<Word>& item, int64_t& to) { spare_[at(to++)] = item; });
  items_.swap(spare_);
}

// If `k` is at most 1/64 of the elements, a heap rejects most of them with one comparison. If `k`
// is at most 1/8, selecting the first k elements leaves most elements unsorted. Otherwise sorts
// all.
template <class Word>
void Ranking<Word>::sort_first(const Pool* pool, int64_t k) {
  if (8 * k > n_) {
    sort(pool);
    return;
  }
  Ranked<Word>* const first = &items_[0];
  if (64 * k <= n_) {
    std::partial_sort(first, first + k, first + n_, precedes<Word>);
    return;
  }
  std::nth_element(first, first + k, first + n_, precedes<Word>);
  std::sort(first, first + k, precedes<Word>);
}

template <class Word>
void Ranking<Word>::sort_by_index(int64_t k) {
  std::sort(&items_[0], &items_[0] + k,
            [](const Ranked<Word>& a, const Ranked<Word>& b) { return a.place < b.place; });
}

namespace {

template <class U>
constexpr U kTop = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
// Whether keys are sorted by vectors/sort_keys.h.
template <class U>
constexpr bool kHasSignedKeys = sizeof(U) >= 4;

// Converts the bits of an element to a key of KeySort, and back.
template <KeyRule::Kind kKind, class U>
U sort_key_of(U bits) {
  if constexpr (kKind != KeyRule::Kind::kFloat) {
    return (kKind == KeyRule::Kind::kSigned) == kHasSignedKeys<U> ? bits
                                                                  : static_cast<U>(bits ^ kTop<U>);
  } else if constexpr (sizeof(U) == 8) {
    return bits;  // The key is a float64.
  } else if constexpr (kHasSignedKeys<U>) {
    return (bits & kTop<U>) != 0 ? static_cast<U>(bits ^ ~kTop<U>) : bits;
  } else {
    return static_cast<U>((bits & kTop<U>) != 0 ? ~bits : bits | kTop<U>);
  }
}
template <KeyRule::Kind kKind, class U>
U element_of(U key) {
  if constexpr (kKind != KeyRule::Kind::kFloat || kHasSignedKeys<U>) {
    return sort_key_of<kKind>(key);
  } else {
    return static_cast<U>((key & kTop<U>) != 0 ? key ^ kTop<U> : ~key);
  }
}

}  // namespace

template <class U>
KeySort<U>::KeySort(int64_t n, const KeyRule& rule, bool descending)
    : n_(n),
      n_keys_(kHasSignedKeys<U> ? padded_keys(static_cast<size_t>(n)) : static_cast<size_t>(n)),
      rule_(rule),
      descending_(descending),
      keys_(new U[n_keys_]),
      spare_(new U[n_keys_]) {}

template <class U>
template <KeyRule::Kind kKind>
bool KeySort<U>::load_keys(const U* x) {
  U* const keys = keys_.get();
  using Signed = std::make_signed_t<U>;  // Vectors of signed integers are compared faster.
  const U infinity = static_cast<U>(rule_.infinity);
  U is_special = 0;
  for (int64_t i = 0; i < n_; ++i) {
    const U bits = x[i];
    if constexpr (kKind == KeyRule::Kind::kFloat) {
      const bool is_nan = static_cast<Signed>(bits & ~kTop<U>) > static_cast<Signed>(infinity);
      is_special |= static_cast<U>(is_nan) | static_cast<U>(bits == kTop<U>);
    }
    keys[i] = sort_key_of<kKind>(bits);
  }
  // Pads with the greatest key.
  const bool is_float64 = kKind == KeyRule::Kind::kFloat && sizeof(U) == 8;
  std::fill(keys + n_, keys + n_keys_, is_float64 ? infinity : static_cast<U>(~kTop<U>));
  return is_special == 0;
}

template <class U>
bool KeySort<U>::load(const U* x) {
  switch (rule_.kind) {
    case KeyRule::Kind::kFloat:
      return load_keys<KeyRule::Kind::kFloat>(x);
    case KeyRule::Kind::kSigned:
      return load_keys<KeyRule::Kind::kSigned>(x);
    case KeyRule::Kind::kUnsigned:
      return load_keys<KeyRule::Kind::kUnsigned>(x);
    default:
      return false;  // Different bytes may be true.
  }
}

template <class U>
template <KeyRule::Kind kKind>
void KeySort<U>::store(U* y, int64_t step) const {
  const U* const keys = keys_.get();
  if (descending_) {
    for (int64_t i = 0; i < n_; ++i) y[i * step] = element_of<kKind>(keys[n_ - 1 - i]);
  } else if (step == 1) {  // This loop is separate because the compiler can vectorise it.
    for (int64_t i = 0; i < n_; ++i) y[i] = element_of<kKind>(keys[i]);
  } else {
    for (int64_t i = 0; i < n_; ++i) y[i * step] = element_of<kKind>(keys[i]);
  }
}

template <class U>
void KeySort<U>::sort() {
  const auto sort_as = [this](auto* keys) {
    auto* const spare = reinterpret_cast<decltype(keys)>(spare_.get());
    if (sort_keys(keys, spare, n_keys_) == spare) keys_.swap(spare_);
  };
  if constexpr (sizeof(U) == 4) {
    sort_as(reinterpret_cast<int32_t*>(keys_.get()));
  } else if constexpr (sizeof(U) == 8) {
    if (rule_.kind == KeyRule::Kind::kFloat) {
      sort_as(reinterpret_cast<double*>(keys_.get()));
    } else {
      sort_as(reinterpret_cast<int64_t*>(keys_.get()));
    }
  } else if (n_ <= kShortLine) {
    std::sort(keys_.get(), keys_.get() + n_);
  } else if (radix_sort<U>(keys_.get(), spare_.get(), n_, [](U key) { return key; })) {
    keys_.swap(spare_);
  }
}

template <class U>
void KeySort<U>::sort_to(U* y, int64_t step) {
  sort();
  switch (rule_.kind) {
    case KeyRule::Kind::kFloat:
      return store<KeyRule::Kind::kFloat>(y, step);
    case KeyRule::Kind::kSigned:
      return store<KeyRule::Kind::kSigned>(y, step);
    default:
      return store<KeyRule::Kind::kUnsigned>(y, step);
  }
}

template class KeySort<uint8_t>;
template class KeySort<uint16_t>;
template class KeySort<uint32_t>;
template class KeySort<uint64_t>;
template class Ranking<uint32_t>;
template class Ranking<uint64_t>;
#define TENON_RANKING_LOAD(Word, U)                                               \
  template void Ranking<Word>::load(const Pool* pool, const U* x, int64_t stride, \
                                    const KeyRule& rule, bool descending);
TENON_RANKING_LOAD(uint32_t, uint8_t)
TENON_RANKING_LOAD(uint32_t, uint16_t)
TENON_RANKING_LOAD(uint32_t, uint32_t)
TENON_RANKING_LOAD(uint64_t, uint8_t)
TENON_RANKING_LOAD(uint64_t, uint16_t)
TENON_RANKING_LOAD(uint64_t, uint32_t)
TENON_RANKING_LOAD(uint64_t, uint64_t)
#undef TENON_RANKING_LOAD

}  // namespace tenon_simd
