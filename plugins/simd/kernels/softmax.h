// Softmax of rows, also used by the losses.

#pragma once

#include "plugins/simd/kernels/elementwise.h"
#include "plugins/simd/kernels/reduce.h"

namespace tenon_simd {

template <class T>
class SoftmaxRow {
 public:
  SoftmaxRow()
      : max_(*find_reducer(TENON_OP_max, tenon_sdk::kDTypeOf<T>)),
        sum_(*find_reducer(TENON_OP_sum, tenon_sdk::kDTypeOf<T>)),
        exp_(find_span(TENON_OP_exp, tenon_sdk::kDTypeOf<T>)->span),
        log_(find_span(TENON_OP_log, tenon_sdk::kDTypeOf<T>)->span) {}

  // y = softmax(x). Requires n > 0.
  void softmax(const T* x, T* y, int64_t n) const {
    subtract_max(x, y, n);
    const void* in[] = {y};
    const size_t step[] = {1};
    exp_(in, step, y, static_cast<size_t>(n), {});
    const T sum = reduce_run(sum_, y, n);
    for (int64_t i = 0; i < n; ++i) y[i] = y[i] / sum;
  }

  // y = log(softmax(x)) for each of at most kMaxRows adjacent rows. Requires n > 0. `scratch` holds
  // rows * n elements.
  static constexpr int64_t kMaxRows = 32;
  void log_softmax(const T* x, T* y, int64_t rows, int64_t n, T* scratch) const {
    const size_t step[] = {1};
    for (int64_t i = 0; i < rows; ++i) subtract_max(x + i * n, y + i * n, n);
    const void* const differences[] = {y};
    exp_(differences, step, scratch, static_cast<size_t>(rows * n), {});
    T sums[kMaxRows], logs[kMaxRows];
    for (int64_t i = 0; i < rows; ++i) sums[i] = reduce_run(sum_, scratch + i * n, n);
    const void* const all_sums[] = {sums};
    log_(all_sums, step, logs, static_cast<size_t>(rows), {});
    for (int64_t i = 0; i < rows; ++i) {
      T* const of_row = y + i * n;
      for (int64_t j = 0; j < n; ++j) of_row[j] = of_row[j] - logs[i];
    }
  }

 private:
  // Subtracts the largest element from each element.
  void subtract_max(const T* x, T* y, int64_t n) const {
    const T most = reduce_run(max_, x, n);
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] - most;
  }

  const Reducer &max_, &sum_;
  Span exp_, log_;
};

}  // namespace tenon_simd
