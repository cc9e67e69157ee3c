// Views: iteration over strided operands, and reports of indices that are out of range.

#pragma once

#include <tenon/plugin.h>

#include <algorithm>
#include <array>

namespace tenon_sdk {

// Returns the number of elements of a shape.
inline int64_t count(size_t rank, const int64_t* sizes) {
  int64_t n = 1;
  for (size_t i = 0; i < rank; ++i) n *= sizes[i];
  return n;
}
inline int64_t count(const tenon_view& view) { return count(view.rank, view.sizes); }

// Whether an optional operand was passed.
inline bool is_present(const tenon_view& view) { return view.dtype != TENON_DTYPE_NONE; }

// Pointer to the view's first element.
template <class T>
T* data(const tenon_view& view) {
  return static_cast<T*>(view.data);
}

// Returns the strides of a view as Walk expects them; NULL, which means all zero, for a uniform
// view.
inline const int64_t* strides_of(const tenon_view& view) {
  return view.strides_class == TENON_STRIDES_UNIFORM ? nullptr : view.strides;
}

// Returns the axis in [0, rank) that `axis` stands for. A negative axis counts from the end: -1 is
// the last axis.
inline size_t from_front(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

// Computes row-major strides without gaps.
struct DenseStrides {
  int64_t values[TENON_MAX_RANK];

  DenseStrides(size_t rank, const int64_t* sizes) {
    int64_t stride = 1;
    for (size_t i = rank; i-- > 0;) {
      values[i] = stride;
      stride *= sizes[i];
    }
  }
  explicit DenseStrides(const tenon_view& view) : DenseStrides(view.rank, view.sizes) {}
};

// Iterates over N operands of the same shape in row-major order. Merges adjacent axes if no operand
// has a gap between them, so that dense operands are one row.
template <size_t N>
class Walk {
 public:
  using Offsets = std::array<int64_t, N>;  // In elements, one for each operand.

  // NULL strides mean strides of 0: the operand's first element is used at all indices.
  Walk(size_t rank, const int64_t* sizes, const std::array<const int64_t*, N>& strides) {
    for (size_t axis = 0; axis < rank; ++axis) {
      if (sizes[axis] == 0) empty_ = true;
      if (sizes[axis] == 1) continue;
      Offsets step;
      for (size_t k = 0; k < N; ++k) step[k] = strides[k] ? strides[k][axis] : 0;
      push(sizes[axis], step);
    }
    if (rank_ == 0) push(1, Offsets{});
  }

  // Calls row(n, offsets, steps) for each row. Element j of operand k in this row is at offset
  // offsets[k] + j * steps[k].
  template <class Row>
  void rows(Row&& row) const {
    if (empty_) return;
    const size_t last = rank_ - 1;
    int64_t at[TENON_MAX_RANK + 1] = {};
    Offsets offsets{};
    while (true) {
      row(sizes_[last], static_cast<const Offsets&>(offsets), steps_[last]);
      size_t axis = last;
      while (true) {
        if (axis-- == 0) return;
        for (size_t k = 0; k < N; ++k) offsets[k] += steps_[axis][k];
        if (++at[axis] < sizes_[axis]) break;
        for (size_t k = 0; k < N; ++k) offsets[k] -= steps_[axis][k] * sizes_[axis];
        at[axis] = 0;
      }
    }
  }

  // Calls element(offsets) for each element, with its offset in each operand.
  template <class Element>
  void elements(Element&& element) const {
    rows([&](int64_t n, Offsets offsets, const Offsets& steps) {
      for (int64_t j = 0; j < n; ++j) {
        element(static_cast<const Offsets&>(offsets));
        for (size_t k = 0; k < N; ++k) offsets[k] += steps[k];
      }
    });
  }

 private:
  // Appends an axis, or merges it with the previous one if no operand has a gap between them.
  void push(int64_t size, const Offsets& step) {
    if (rank_ > 0) {
      bool merges = true;
      for (size_t k = 0; k < N; ++k) merges = merges && steps_[rank_ - 1][k] == step[k] * size;
      if (merges) {
        sizes_[rank_ - 1] *= size;
        steps_[rank_ - 1] = step;
        return;
      }
    }
    sizes_[rank_] = size;
    steps_[rank_++] = step;
  }

  bool empty_ = false;
  size_t rank_ = 0;
  int64_t sizes_[TENON_MAX_RANK + 1];
  Offsets steps_[TENON_MAX_RANK + 1];
};

// Converts a possibly negative index to one in [0, bound). Returns -1 if it is out of range.
inline int64_t wrap(int64_t index, int64_t bound) {
  if (index < 0) index += bound;
  return index >= 0 && index < bound ? index : -1;
}

// Returns the start of a slice of `size` elements, clamped so that the slice is inside an axis of
// size `bound`. A negative start counts from the end.
inline int64_t wrap_start(int64_t start, int64_t bound, int64_t size) {
  if (start < 0) start += bound;
  return std::clamp<int64_t>(start, 0, bound - size);
}

// Reports an index out of range in the launch's error record, unless the record already holds an
// error.
inline void report_value_error(const tenon_launch& launch, int64_t index, int64_t bound) {
  tenon_error_record* record = launch.record;
  if (record == nullptr) return;
  uint32_t untouched = 0;
  // Uses a compiler builtin, because Emscripten's C++ library lacks std::atomic_ref.
  if (!__atomic_compare_exchange_n(&record->state, &untouched, 1u, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    return;
  }
  record->site = launch.site;
  record->index = index;
  record->bound = bound;
}

// Reads int32 or int64 indices.
class IndexReader {
 public:
  explicit IndexReader(const tenon_view& view)
      : data_(view.data), wide_(view.dtype == TENON_INT64) {}
  int64_t operator[](int64_t offset) const {
    return wide_ ? static_cast<const int64_t*>(data_)[offset]
                 : static_cast<const int32_t*>(data_)[offset];
  }

 private:
  const void* data_;
  bool wide_;
};

}  // namespace tenon_sdk
