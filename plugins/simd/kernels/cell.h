// Helpers of the kernels of recurrent cells: operands as matrices, and a function that is applied
// to a row.

#pragma once

#include "plugins/simd/kernels/dense_input.h"
#include "plugins/simd/kernels/elementwise.h"
#include "plugins/simd/kernels/multiply.h"

namespace tenon_simd {

// Returns the transpose of an operand with two axes, without a copy.
template <class T>
Matrix<T> transposed(const tenon_view& view) {
  return {data<const T>(view), stride_of(view, 1), stride_of(view, 0)};
}

// Returns an operand with two axes as a matrix, without a copy.
template <class T>
Matrix<T> matrix(const tenon_view& view) {
  return {data<const T>(view), stride_of(view, 0), view.sizes[1] == 1 ? 1 : stride_of(view, 1)};
}

// An elementwise function of one input, over contiguous elements.
template <class T>
class RowFunction {
 public:
  explicit RowFunction(uint32_t op) : span_(find_span(op, tenon_sdk::kDTypeOf<T>)->span) {}

  void operator()(const T* from, T* to, int64_t n) const {
    const void* in[] = {from};
    const size_t step[] = {1};
    span_(in, step, to, static_cast<size_t>(n), {});
  }

 private:
  Span span_;
};

}  // namespace tenon_simd
