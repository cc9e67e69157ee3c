// Loops along one axis. A line is the sequence of elements along the axis. Adjacent lines are
// processed together, so that memory accesses are sequential for any axis.

#pragma once

#include "plugins/simd/kernels/axes.h"

namespace tenon_simd {

constexpr int64_t kStripGrain = 32 * 1024;  // Minimum number of elements per task.
constexpr int64_t kTogether = 128;          // Maximum number of lines processed at once.
// The same for lines whose elements are adjacent. They are transposed in tiles that fit into the L1
// cache.
constexpr int64_t kTileLines = kIsCompact ? kTogether : 32;

// Calls strip(first, from, step, n_lines) for groups of adjacent lines of the view. `first` is the
// index of the group's first line among all lines. Line i of the group begins at element offset
// from + i * step.
template <class Strip>
void for_each_strip(const Pool& pool, const tenon_view& view, size_t axis, const Strip& strip) {
  const LoopAxes lines = axes_without(view, axis);
  const int64_t grain = std::max<int64_t>(1, kStripGrain / std::max<int64_t>(1, view.sizes[axis]));
  pool.parallel_tasks(lines.count(), grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t inner = lines.inner_size();
      const int64_t most = stride_of(view, axis) == 1 ? kTileLines : kTogether;
      const int64_t n = std::min({inner - begin % inner, end - begin, most});
      strip(begin, lines.offset(begin), lines.inner_stride(), n);
      begin += n;
    }
  });
}

// Whether `candidate` replaces `best`, the largest or smallest element so far. Selects the first of
// equal elements, and the first NaN if there is one.
template <class T>
bool beats(T candidate, T best, bool is_max) {
  if (best != best) return false;
  return candidate != candidate || (is_max ? best < candidate : candidate < best);
}

// The type in which elements are computed: float32 for half types.
template <class T>
using WideOf = std::conditional_t<tenon_sdk::kIsFloat<T> && sizeof(T) == 2, float, T>;

}  // namespace tenon_simd
