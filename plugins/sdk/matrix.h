// Views of matrices, which are in the last two axes of an operand, and dense copies of matrices.

#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "plugins/sdk/view.h"

namespace tenon_sdk {

// Number of matrices in an operand: the product of all sizes but the last two.
inline int64_t count_matrices(const tenon_view& view) {
  return count(view.rank - size_t{2}, view.sizes);
}

// Returns the offset, in elements, of matrix or vector number `index` of an operand. Each matrix or
// vector spans the last `n_axes` axes.
inline int64_t offset_of_matrix(const tenon_view& view, size_t n_axes, int64_t index) {
  const int64_t* strides = strides_of(view);
  int64_t at = 0;
  if (count(view) == 0) return at;
  for (size_t axis = view.rank - n_axes; axis-- > 0; index /= view.sizes[axis]) {
    at += index % view.sizes[axis] * (strides != nullptr ? strides[axis] : 0);
  }
  return at;
}

// A view of one matrix of an operand, without a copy.
template <class T>
struct MatrixView {
  T* first;
  int64_t rows, columns, row_stride, column_stride;

  MatrixView(const tenon_view& view, int64_t index) {
    const size_t row = view.rank - size_t{2}, column = view.rank - size_t{1};
    const int64_t* strides = strides_of(view);
    first = data<T>(view) + offset_of_matrix(view, 2, index);
    rows = view.sizes[row];
    columns = view.sizes[column];
    row_stride = strides != nullptr ? strides[row] : 0;
    column_stride = strides != nullptr ? strides[column] : 0;
  }

  MatrixView transposed() const {
    MatrixView result = *this;
    std::swap(result.rows, result.columns);
    std::swap(result.row_stride, result.column_stride);
    return result;
  }
  T& operator()(int64_t i, int64_t j) const { return first[i * row_stride + j * column_stride]; }
};

// A row-major matrix that owns its memory.
template <class W>
class DenseMatrix {
 public:
  DenseMatrix(int64_t rows, int64_t columns)
      : rows_(rows), columns_(columns), elements_(static_cast<size_t>(rows * columns)) {}
  template <class T>
  explicit DenseMatrix(const MatrixView<T>& from) : DenseMatrix(from.rows, from.columns) {
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < columns_; ++j) (*this)(i, j) = static_cast<W>(from(i, j));
    }
  }

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  W* data() { return elements_.data(); }
  const W* data() const { return elements_.data(); }
  W& operator()(int64_t i, int64_t j) { return elements_[static_cast<size_t>(i * columns_ + j)]; }
  const W& operator()(int64_t i, int64_t j) const {
    return elements_[static_cast<size_t>(i * columns_ + j)];
  }

  DenseMatrix transposed() const {
    DenseMatrix result(columns_, rows_);
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < columns_; ++j) result(j, i) = (*this)(i, j);
    }
    return result;
  }
  // Sets all elements to those of the identity matrix.
  void set_identity() {
    std::fill(elements_.begin(), elements_.end(), W{0});
    for (int64_t i = 0; i < std::min(rows_, columns_); ++i) (*this)(i, i) = 1;
  }
  void set_nan() { std::fill(elements_.begin(), elements_.end(), W{NAN}); }
  void multiply(W factor) {
    for (W& element : elements_) element *= factor;
  }
  // Sets all elements above the diagonal to zero.
  void clear_above() {
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = i + 1; j < columns_; ++j) (*this)(i, j) = 0;
    }
  }
  bool is_finite() const {
    for (const W& element : elements_) {
      if (!std::isfinite(element)) return false;
    }
    return true;
  }
  // Returns the largest magnitude of an element.
  W largest() const {
    W most = 0;
    for (const W& element : elements_) most = std::max<W>(most, std::abs(element));
    return most;
  }

  // Copies all elements to a view of the same size.
  template <class T>
  void store(const MatrixView<T>& to) const {
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < columns_; ++j) to(i, j) = static_cast<T>((*this)(i, j));
    }
  }

 private:
  int64_t rows_, columns_;
  std::vector<W> elements_;
};

}  // namespace tenon_sdk
