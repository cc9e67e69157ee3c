// softmax and log_softmax along any axis, one row at a time. Non-contiguous rows are packed first.

#include "plugins/simd/kernels/softmax.h"

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
  const tenon_sdk::DenseStrides dense(out);
  LoopAxes from_rows, to_rows;
  for (size_t i = 0; i < in.rank; ++i) {
    if (i == at) continue;
    from_rows.push(in.sizes[i], stride_of(in, i));
    to_rows.push(in.sizes[i], dense.values[i]);
  }
  const int64_t from_stride = stride_of(in, at), to_stride = n == 1 ? 1 : dense.values[at];
  pool.parallel_tasks(from_rows.count(), std::max<int64_t>(1, kGrain / n),
                      [&](int64_t begin, int64_t end) {
                        T* const scratch = scratch_of<T>(kScratchC, 3 * n);
                        T *const gathered = scratch + n, *const result = scratch + 2 * n;
                        for (int64_t i = begin; i < end; ++i) {
                          const T* from = data<const T>(in) + from_rows.offset(i);
                          T* const to = data<T>(out) + to_rows.offset(i);
                          T* const y = to_stride == 1 ? to : result;
                          if (from_stride != 1) {
                            for (int64_t j = 0; j < n; ++j) gathered[j] = from[j * from_stride];
                            from = gathered;
                          }
                          is_log ? row.log_softmax(from, y, n, scratch) : row.softmax(from, y, n);
                          if (to_stride == 1) continue;
                          for (int64_t j = 0; j < n; ++j) to[j * to_stride] = y[j];
                        }
                      });
}

// Prepares softmax or, with `is_log`, log_softmax.
Prepared prepare_softmax_kernel(const Request& request, bool is_log) {
  const int64_t axis = request.attrs<tenon_softmax_attrs>({.axis = -1}).axis;
  return through_float(request,
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
