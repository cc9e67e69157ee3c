// The elements of a group in row-major order, wherever they lie, for kernels that walk them more
// than once.

#pragma once

#include "plugins/cpu/kernels/axes.h"
#include "plugins/cpu/kernels/reduce.h"

namespace tenon_cpu {

template <class T>
struct Elements {
  const T* x;
  LoopAxes axes;
  int64_t n;

  // to[i - begin] = f(element i, i) for i of [begin, end).
  template <class Function>
  void map(int64_t begin, int64_t end, T* to, const Function& f) const {
    const int64_t stride = axes.inner_stride();
    int64_t first = begin;
    axes.runs(begin, end, [&](int64_t offset, int64_t length) {
      const T* const from = x + offset;
      if (stride == 1) {  // A loop of its own, which becomes vector code.
        for (int64_t i = 0; i < length; ++i) to[i] = f(from[i], first + i);
      } else {
        for (int64_t i = 0; i < length; ++i) to[i] = f(from[i * stride], first + i);
      }
      to += length;
      first += length;
    });
  }

  // The mean of f(element), summed in the order of reduce.h; NaN for no elements.
  template <class Function>
  T mean(const Reducer& reducer, const Function& f) const {
    alignas(64) T tile[kReduceBlock];
    const auto block = [&](int64_t begin) {
      const int64_t end = std::min(begin + kReduceBlock, n);
      map(begin, end, tile, [&](T element, int64_t) { return f(element); });
      T sum;
      reducer.block(tile, static_cast<size_t>(end - begin), &sum);
      return sum;
    };
    if (n <= kReduceBlock) return block(0) / static_cast<T>(n);
    BlockTree<T> tree(reducer);
    for (int64_t begin = 0; begin < n; begin += kReduceBlock) tree.add(block(begin));
    return tree.result() / static_cast<T>(n);
  }

  T mean(const Reducer& reducer) const {
    return mean(reducer, [](T element) { return element; });
  }
  // Of the population, around a mean that is known.
  T variance(const Reducer& reducer, T around) const {
    return mean(reducer, [around](T element) { return (element - around) * (element - around); });
  }
};

}  // namespace tenon_cpu
