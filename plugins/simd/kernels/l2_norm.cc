// l2_norm along the last axes: squares and sums the elements in one pass. Other axes are refused,
// because the decomposition reads non-contiguous rows only once and is faster.

#include <bit>
#include <cmath>

#include "plugins/simd/kernels/elements.h"
#include "plugins/simd/kernels/through_float.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 64 * 1024;  // Minimum number of elements per task.

// Returns the sum of (factor * element)^2 over the elements of one block of the row.
template <class T>
T sum_of_squares(const Elements<T>& row, const Reducer& sum, int64_t block, T factor) {
  return row.block_sum(sum, block * kReduceBlock, [factor](T e) {
    const T scaled = e * factor;
    return scaled * scaled;
  });
}

// Returns the root of the sum of squares. If the sum overflowed or underflowed, recomputes it from
// scaled elements.
template <class T>
T root_of(const Elements<T>& row, const Reducer& sum, int64_t n_blocks, T squares) {
  if (SquareScale<T>::is_exact(squares, 0)) return std::sqrt(squares);
  const T most = row.largest([](T e) { return e; });
  const T factor = SquareScale<T>::factor(most, 0);
  if (most == 0 || factor == 1) return std::sqrt(squares);
  BlockTree<T> tree(sum);
  int64_t block = 0;
  do {
    tree.add(sum_of_squares(row, sum, block, factor));
  } while (++block < n_blocks);
  return std::sqrt(tree.result()) / factor;
}

// A task sums a block of a row. The sums of the blocks are added in the order of reduce.h.
template <class T>
void l2_norm(const Pool& pool, const tenon_launch& launch, uint32_t mask) {
  const Reducer& sum = *find_reducer(TENON_OP_sum, tenon_sdk::kDTypeOf<T>);
  LoopAxes reduced, kept;
  split_axes(launch.inputs[0], mask, reduced, kept);
  const int64_t n_rows = kept.count(), n = reduced.count();
  T* const y = data<T>(launch.outputs[0]);
  if (n == 0) {
    std::fill_n(y, n_rows, T{0});
    return;
  }
  const int64_t n_blocks = (n + kReduceBlock - 1) / kReduceBlock;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::min(n, kReduceBlock));
  const auto row_at = [&](int64_t row) {
    return Elements<T>{data<const T>(launch.inputs[0]) + kept.offset(row), reduced, n};
  };
  const auto tree_of = [&](int64_t row, const auto& sum_of_block) {
    BlockTree<T> tree(sum);
    int64_t block = 0;
    do {
      tree.add(sum_of_block(block));
    } while (++block < n_blocks);
    y[row] = root_of(row_at(row), sum, n_blocks, tree.result());
  };
  // If the sums of all blocks would take too much memory, a task processes a whole row.
  constexpr int64_t kMaxSums = int64_t{1} << 20;
  if (n_rows > 0 && n_blocks > kMaxSums / n_rows) {
    pool.parallel_tasks(n_rows, 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        tree_of(row, [&](int64_t block) { return sum_of_squares(row_at(row), sum, block, T{1}); });
      }
    });
    return;
  }
  std::vector<T> sums(static_cast<size_t>(n_rows * n_blocks));
  pool.parallel_tasks(n_rows * n_blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const Elements<T> row = row_at(task / n_blocks);
      const T squares = sum_of_squares(row, sum, task % n_blocks, T{1});
      sums[static_cast<size_t>(task)] = squares;
      if (n_blocks == 1) y[task] = root_of(row, sum, n_blocks, squares);
    }
  });
  if (n_blocks == 1) return;
  for (int64_t row = 0; row < n_rows; ++row) {
    tree_of(row, [&](int64_t block) { return sums[static_cast<size_t>(row * n_blocks + block)]; });
  }
}

}  // namespace

Prepared prepare_l2_norm(const Request& request) {
  const auto attrs = request.attrs<tenon_l2_norm_attrs>();
  const uint32_t rank = request.input(0).rank;
  const uint32_t mask = axes_mask(list(attrs.axes, attrs.n_axes), rank);
  const uint32_t all = rank == 0 ? 0 : ~uint32_t{0} >> (32 - rank);
  // The reduced axes are the last axes if no kept axis follows a reduced one.
  const uint32_t kept = all & ~mask;
  if ((kept & (kept + 1)) != 0) return refuse("supports norms along the last axes only");
  const auto n_kept = static_cast<size_t>(std::popcount(kept));
  return through_float(request, RowOperands{.n_axes = n_kept, .inputs = 1, .outputs = 1},
                       [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
                         l2_norm<T>(*pool, launch, mask);
                       });
}

}  // namespace tenon_simd
