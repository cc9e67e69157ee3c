// The axes of an operand, simplified for loops: axes of size 1 are dropped, and neighbouring axes
// are merged if one stride covers both.

#pragma once

#include "plugins/simd/kernels.h"

namespace tenon_simd {

struct LoopAxes {
  int rank = 0;
  int64_t sizes[TENON_MAX_RANK];
  int64_t strides[TENON_MAX_RANK];

  // Appends an inner axis, or merges it with the previous one if one stride covers both.
  void push(int64_t size, int64_t stride) {
    if (size == 1) return;
    if (rank > 0 && strides[rank - 1] == stride * size) {
      sizes[rank - 1] *= size;
      strides[rank - 1] = stride;
      return;
    }
    sizes[rank] = size;
    strides[rank++] = stride;
  }

  int64_t count() const { return tenon_sdk::count(static_cast<size_t>(rank), sizes); }
  int64_t inner_size() const { return rank == 0 ? 1 : sizes[rank - 1]; }
  int64_t inner_stride() const { return rank == 0 ? 1 : strides[rank - 1]; }

  // Returns the offset of the element with this row-major index.
  int64_t offset(int64_t index) const {
    int64_t at = 0;
    for (int axis = rank - 1; axis > 0; --axis) {
      at += index % sizes[axis] * strides[axis];
      index /= sizes[axis];
    }
    return rank == 0 ? 0 : at + index * strides[0];
  }

  // Calls run(offset, n) for the runs along the innermost axis that cover elements [begin, end).
  template <class Run>
  void runs(int64_t begin, int64_t end, const Run& run) const {
    if (begin >= end) return;
    const int last = rank - 1;
    const int64_t inner = inner_size();
    int64_t at[TENON_MAX_RANK];
    // `start` is the offset of the run.
    int64_t rest = begin / inner, start = 0, along = begin % inner;
    for (int axis = last - 1; axis >= 0; --axis) {
      at[axis] = rest % sizes[axis];
      rest /= sizes[axis];
      start += at[axis] * strides[axis];
    }
    while (true) {
      const int64_t n = std::min(inner - along, end - begin);
      run(start + along * inner_stride(), n);
      begin += n;
      if (begin == end) return;
      along = 0;
      for (int axis = last - 1;; --axis) {
        start += strides[axis];
        if (++at[axis] < sizes[axis]) break;
        start -= strides[axis] * sizes[axis];
        at[axis] = 0;
      }
    }
  }
};

// Returns the stride along an axis; 0 if the view is uniform.
inline int64_t stride_of(const tenon_view& view, size_t axis) {
  return view.strides_class == TENON_STRIDES_UNIFORM ? 0 : view.strides[axis];
}

// Returns axes [begin, end) of a view.
inline LoopAxes axes_of(const tenon_view& view, size_t begin, size_t end) {
  LoopAxes axes;
  for (size_t axis = begin; axis < end; ++axis) axes.push(view.sizes[axis], stride_of(view, axis));
  return axes;
}
// Returns all axes of a view.
inline LoopAxes axes_of(const tenon_view& view) { return axes_of(view, 0, view.rank); }

// Returns the axes of a view except `axis`. They number the lines along `axis`.
inline LoopAxes axes_without(const tenon_view& view, size_t axis) {
  LoopAxes axes;
  for (size_t i = 0; i < view.rank; ++i) {
    if (i != axis) axes.push(view.sizes[i], stride_of(view, i));
  }
  return axes;
}

// Stores one element `n` times. It is stored as an integer of the same size, because the compiler
// then vectorises the loop.
template <class T>
void repeat(const T& x, int64_t n, T* to) {
  if constexpr (sizeof(T) <= 8) {
    using Word = std::conditional_t<
        sizeof(T) == 1, uint8_t,
        std::conditional_t<sizeof(T) == 2, uint16_t,
                           std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
    Word word;
    std::memcpy(&word, &x, sizeof word);
    std::fill_n(reinterpret_cast<Word*>(to), n, word);
  } else {
    std::fill_n(to, n, x);
  }
}

// Whether rows are columns in memory: the last axis but one is contiguous, but not the last. Both
// are large enough for copy_transposed().
inline bool has_transposed_rows(const LoopAxes& axes) {
  const int last = axes.rank - 1;
  return last > 0 && axes.strides[last - 1] == 1 && axes.strides[last] > 1 &&
         axes.sizes[last - 1] >= 8 && axes.sizes[last] >= 8;
}

// Copies elements [begin, end) of a view with transposed rows to contiguous memory, in blocks of
// several rows. `size`: bytes of an element. Defined in copy.cc.
void pack_transposed(size_t size, const void* from, const LoopAxes& axes, int64_t begin,
                     int64_t end, void* to);

// Copies elements [begin, end) of a view with these axes to contiguous memory.
template <class T>
void pack(const T* from, const LoopAxes& axes, int64_t begin, int64_t end, T* to) {
  const int64_t stride = axes.inner_stride();
  if constexpr (sizeof(T) <= 8) {
    if (end - begin >= 8 * axes.inner_size() && has_transposed_rows(axes)) {
      return pack_transposed(sizeof(T), from, axes, begin, end, to);
    }
  }
  axes.runs(begin, end, [&](int64_t offset, int64_t n) {
    if (stride == 1) {
      std::memcpy(to, from + offset, static_cast<size_t>(n) * sizeof(T));
    } else if (stride == 0) {
      repeat(from[offset], n, to);
    } else {
      for (int64_t i = 0; i < n; ++i) to[i] = from[offset + i * stride];
    }
    to += n;
  });
}

// Returns the mask of the axes that an op reduces. An empty list stands for all axes.
inline uint32_t axes_mask(const List& axes, size_t rank) {
  if (axes.empty()) return (uint32_t{1} << rank) - 1;
  uint32_t mask = 0;
  for (int64_t axis : axes) mask |= uint32_t{1} << tenon_sdk::from_front(axis, rank);
  return mask;
}

// Splits the axes of a view into those of the mask (`inside`) and the others (`outside`).
inline void split_axes(const tenon_view& view, uint32_t mask, LoopAxes& inside, LoopAxes& outside) {
  for (size_t axis = 0; axis < view.rank; ++axis) {
    LoopAxes& group = (mask >> axis & 1) != 0 ? inside : outside;
    group.push(view.sizes[axis], stride_of(view, axis));
  }
}

}  // namespace tenon_simd
