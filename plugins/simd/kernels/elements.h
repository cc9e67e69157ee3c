// Access to a group of elements in row-major order, with any memory layout, for kernels that read
// the elements more than once.

#pragma once

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/reduce.h"
#include "plugins/simd/kernels/square_scale.h"

namespace tenon_simd {

template <class T>
struct Elements {
  const T* x;
  LoopAxes axes;
  int64_t n;

  // Computes to[i - begin] = f(element i, i) for i in [begin, end).
  template <class Function>
  void map(int64_t begin, int64_t end, T* to, const Function& f) const {
    const int64_t stride = axes.inner_stride();
    int64_t first = begin;
    axes.runs(begin, end, [&](int64_t offset, int64_t length) {
      const T* const from = x + offset;
      if (stride == 1) {  // This loop is separate because the compiler can vectorise it.
        for (int64_t i = 0; i < length; ++i) to[i] = f(from[i], first + i);
      } else {
        for (int64_t i = 0; i < length; ++i) to[i] = f(from[i * stride], first + i);
      }
      to += length;
      first += length;
    });
  }

  // Returns the mean of f(element), summed in the order of reduce.h. NaN if there are no elements.
  template <class Function>
  T mean(const Reducer& reducer, const Function& f) const {
    if (n <= kReduceBlock) return block_sum(reducer, 0, f) / static_cast<T>(n);
    BlockTree<T> tree(reducer);
    for (int64_t begin = 0; begin < n; begin += kReduceBlock) {
      tree.add(block_sum(reducer, begin, f));
    }
    return tree.result() / static_cast<T>(n);
  }
  // Returns the sum of f(element) over the block (reduce.h) that begins at element `begin`.
  template <class Function>
  T block_sum(const Reducer& reducer, int64_t begin, const Function& f) const {
    alignas(64) T tile[kReduceBlock];
    const int64_t end = std::min(begin + kReduceBlock, n);
    map(begin, end, tile, [&](T element, int64_t) { return f(element); });
    T sum;
    reducer.block(tile, static_cast<size_t>(end - begin), &sum);
    return sum;
  }

  T mean(const Reducer& reducer) const {
    return mean(reducer, [](T element) { return element; });
  }
  // Returns the mean of the squares of f(element) and the factor by which f(element) was multiplied
  // to prevent overflow and underflow. The caller adds epsilon to the mean. Propagates NaN.
  template <class Function>
  MeanSquare<T> mean_square(const Reducer& reducer, double epsilon, const Function& f) const {
    const T ordinary = mean(reducer, [&](T element) { return f(element) * f(element); });
    if (SquareScale<T>::is_exact(ordinary, epsilon)) return {T{1}, ordinary};
    const T factor = SquareScale<T>::factor(largest(f), epsilon);
    if (factor == 1) return {T{1}, ordinary};
    return {factor, mean(reducer, [&](T element) {
              const T scaled = f(element) * factor;
              return scaled * scaled;
            })};
  }
  // Returns the largest magnitude of f(element). NaN if any f(element) is NaN.
  template <class Function>
  T largest(const Function& f) const {
    T most = 0;
    axes.runs(0, n, [&](int64_t offset, int64_t length) {
      for (int64_t i = 0; i < length; ++i) {
        const T size = std::abs(f(x[offset + i * axes.inner_stride()]));
        if (size > most || size != size) most = size;
      }
    });
    return most;
  }
};

}  // namespace tenon_simd
