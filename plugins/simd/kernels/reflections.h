// Householder reflections H = I - tau v v^T, gathered into blocks I - V^T t V (the compact WY
// form).

#pragma once

#include <cstdint>
#include <vector>

#include "plugins/sdk/matrix.h"

namespace tenon_simd {

// Reflections of vectors of `length` elements. Row i of `vectors` is the vector v of reflection i.
template <class T>
struct Reflections {
  static constexpr int64_t kBlock = 32;

  tenon_sdk::DenseMatrix<T> vectors;
  std::vector<T> tau;

  Reflections(int64_t count, int64_t length)
      : vectors(count, length), tau(static_cast<size_t>(count)) {}

  int64_t count() const { return vectors.rows(); }
  int64_t length() const { return vectors.columns(); }
  // Returns the vector of reflection i.
  T* at(int64_t i) { return vectors.data() + i * length(); }

  // Computes reflection i, which maps the elements [first, length) of a vector, given in `x`, to
  // (beta, 0, 0, ...). Returns beta.
  T make(int64_t i, int64_t first, const T* x);

  // Computes c <- H[begin] ... H[end - 1] c or, with `reversed`, c <- H[end - 1] ... H[begin] c. c
  // has `length` rows of n elements. The elements of the vectors before `first` are 0.
  void apply(int64_t begin, int64_t end, int64_t first, bool reversed, T* c, int64_t c_row,
             int64_t n);

  // Returns the first `columns` columns of the product H[0] H[1] .... The elements of vector i
  // before i + shift are 0.
  tenon_sdk::DenseMatrix<T> product(int64_t columns, int64_t shift);
};

}  // namespace tenon_simd
