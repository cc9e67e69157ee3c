// Indices of gathers and scatters.

#pragma once

#include <algorithm>

#include "plugins/simd/kernels.h"

namespace tenon_simd {

// Returns the index, counted from the front. If the index is out of range, reports it and returns
// -1.
inline int64_t checked_index(const tenon_launch& launch, int64_t index, int64_t bound) {
  const int64_t found = tenon_sdk::wrap(index, bound);
  if (found < 0) tenon_sdk::report_value_error(launch, index, bound);
  return found;
}

// Reads `n` indices that are `step` elements apart, the first of them at `offset`. Stores them as
// checked_index() returns them. Returns whether all are in range.
bool read_indices(const tenon_launch& launch, const tenon_view& indices, int64_t offset,
                  int64_t step, int64_t bound, int64_t n, int64_t* to);

// Reads a row of `n` indices in runs. Calls run(first, size, found, all_inside) for each.
template <class Run>
void for_index_runs(const tenon_launch& launch, const tenon_view& indices, int64_t offset,
                    int64_t step, int64_t bound, int64_t n, const Run& run) {
  constexpr int64_t kRun = 256;
  int64_t found[kRun];
  for (int64_t first = 0; first < n; first += kRun) {
    const int64_t size = std::min(kRun, n - first);
    const bool all_inside =
        read_indices(launch, indices, offset + first * step, step, bound, size, found);
    run(first, size, static_cast<const int64_t*>(found), all_inside);
  }
}

}  // namespace tenon_simd
