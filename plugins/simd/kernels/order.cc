#include "plugins/simd/kernels/order.h"

#include <algorithm>
#include <array>

namespace tenon_simd {
namespace {

template <class Word>
bool precedes(const Ranked<Word>& a, const Ranked<Word>& b) {
  return a.key != b.key ? a.key < b.key : a.place < b.place;
}

}  // namespace

// Uses comparisons for short rows, for which the histograms of a radix sort would cost more. Their
// cost grows with the number of bytes.
template <class Word>
void Ranking<Word>::sort(const Pool* pool) {
  if (n_ <= 64 * key_bytes_) {
    std::sort(&items_[0], &items_[0] + n_, precedes<Word>);
    return;
  }
  for (int byte = 0; byte < key_bytes_; ++byte) sort_by_byte(pool, 8 * byte);
}

// One pass of a stable radix sort: moves items after all those with a smaller byte, and after
// earlier ones with the same byte. Each chunk counts its bytes, derives its target positions from
// the counts, and moves its items.
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
    if (total - before == n_) return;  // All items have this byte.
  }
  for_each_chunk([&](const Ranked<Word>& item, int64_t& to) { spare_[at(to++)] = item; });
  items_.swap(spare_);
}

// For few of many, a heap rejects most elements with one comparison. Selection pays off if it
// leaves most elements unsorted.
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
void Ranking<Word>::sort_places(int64_t k) {
  std::sort(&items_[0], &items_[0] + k,
            [](const Ranked<Word>& a, const Ranked<Word>& b) { return a.place < b.place; });
}

template class Ranking<uint32_t>;
template class Ranking<uint64_t>;

}  // namespace tenon_simd
