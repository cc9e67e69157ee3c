// Softmax of one row, also used by the losses.

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
    const T sum = exponentials(y, y, n);
    for (int64_t i = 0; i < n; ++i) y[i] = y[i] / sum;
  }

  // y = log(softmax(x)); `scratch` holds n elements.
  void log_softmax(const T* x, T* y, int64_t n, T* scratch) const {
    subtract_max(x, y, n);
    const T sum = exponentials(y, scratch, n);
    T log;
    const void* in[] = {&sum};
    const size_t step[] = {1};
    log_(in, step, &log, 1, {});
    for (int64_t i = 0; i < n; ++i) y[i] = y[i] - log;
  }

 private:
  // Subtracts the largest element from each element.
  void subtract_max(const T* x, T* y, int64_t n) const {
    const T most = reduce_run(max_, x, n);
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] - most;
  }
  // Computes y = exp(x) and returns the sum of y.
  T exponentials(const T* x, T* y, int64_t n) const {
    const void* in[] = {x};
    const size_t step[] = {1};
    exp_(in, step, y, static_cast<size_t>(n), {});
    return reduce_run(sum_, y, n);
  }

  const Reducer &max_, &sum_;
  Span exp_, log_;
};

}  // namespace tenon_simd
