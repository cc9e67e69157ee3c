#include "plugins/simd/kernels/order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

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

// Short lines are sorted by comparisons, because the histograms of a radix sort would cost more. A
// radix sort makes one histogram for each byte of the key.
template <class Word>
void Ranking<Word>::sort(const Pool* pool) {
  if (n_ <= 64 * key_bytes_) {
    std::sort(&items_[0], &items_[0] + n_, precedes<Word>);
    return;
  }
  for (int byte = 0; byte < key_bytes_; ++byte) sort_by_byte(pool, 8 * byte);
}

// One pass of a stable radix sort: orders items by one byte of the key, and keeps the order of
// items with the same byte. Each chunk counts its bytes, derives its target positions from the
// counts, and moves its items.
template <class Word>
void Ranking<Word>::sort_by_byte(const Pool* pool, int shift) {
  using Counts = std::array<int64_t, 256>;
  const int64_t n_chunks = pool == nullptr ? 1 : std::clamp<int64_t>(n_ / kChunk, 1, 64);
  const int64_t step = (n_ + n_chunks - 1) / n_chunks;
  std::vector<Counts> next(at(n_chunks), Counts{});
  const auto for_each_chunk = [&](const auto& body) {
    const auto run = [&](int64_t chunk) {
      const int64_t end = std::min(n_, (chunk + 1) * step);
      Counts& counts = next[at(chunk)];
      for (int64_t i = chunk * step; i < end; ++i) {
        body(items_[at(i)], counts[items_[at(i)].key >> shift & 0xff]);
      }
    };
    if (n_chunks == 1) {
      run(0);
    } else {
      pool->parallel_for(n_chunks, run);
    }
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
