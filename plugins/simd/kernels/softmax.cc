// softmax and log_softmax along any axis, one row at a time. Non-contiguous rows are packed first.

#include "plugins/simd/kernels/softmax.h"

#include "plugins/simd/kernels/lines.h"
#include "plugins/simd/kernels/multiply.h"
#include "plugins/simd/kernels/through_float.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 8 * 1024;  // Minimum number of elements per task.

// Applies softmax or, with `is_log`, log_softmax to each row along the axis.
template <class T>
void softmax_rows(const Pool& pool, const tenon_launch& launch, const SoftmaxRow<T>& row,
                  int64_t axis, bool is_log) {
  const tenon_view& in = launch.inputs[0];
  const tenon_view& out = launch.outputs[0];
  const size_t at = tenon_sdk::from_front(axis, in.rank);
  const int64_t n = in.sizes[at];
  if (count(out) == 0) return;
  const Lines from(in, at), to(out, at);
  const int64_t to_stride = n == 1 ? 1 : to.stride;
  pool.parallel_tasks(
      from.others.count(), std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
        T* const scratch = scratch_of<T>(kScratchC, 2 * n);
        for_each_line(data<const T>(in), from, begin, end, [&](int64_t line, const T* x) {
          T* const target = data<T>(out) + to.others.offset(line);
          T* const y = to_stride == 1 ? target : scratch + n;
          is_log ? row.log_softmax(x, y, 1, n, scratch) : row.softmax(x, y, n);
          if (to_stride == 1) return;
          for (int64_t j = 0; j < n; ++j) target[j * to_stride] = y[j];
        });
      });
}

// Prepares softmax or, with `is_log`, log_softmax.
Prepared prepare_softmax_kernel(const Request& request, bool is_log) {
  const int64_t axis = request.attrs<tenon_softmax_attrs>({.axis = -1}).axis;
  const size_t at = tenon_sdk::from_front(axis, request.input(0).rank);
  return through_float(request, RowOperands{.n_axes = at, .inputs = 1, .outputs = 1},
                       [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
                         static const SoftmaxRow<T> row;
                         softmax_rows<T>(*pool, launch, row, axis, is_log);
                       });
}

}  // namespace

Prepared prepare_softmax(const Request& request) { return prepare_softmax_kernel(request, false); }
Prepared prepare_log_softmax(const Request& request) {
  return prepare_softmax_kernel(request, true);
}

}  // namespace tenon_simd
