// Householder reflections H = I - tau v v^T, gathered into blocks I - V^T t V (the compact WY
// form).

#pragma once

#include <cstdint>
#include <vector>

#include "plugins/sdk/matrix.h"

namespace tenon_simd {

// Reflections of vectors of `length` elements; each row of `vectors` is one v.
template <class T>
struct Reflections {
  static constexpr int64_t kBlock = 32;

  tenon_sdk::DenseMatrix<T> vectors;
  std::vector<T> tau;

  Reflections(int64_t count, int64_t length)
      : vectors(count, length), tau(static_cast<size_t>(count)) {}

  int64_t count() const { return vectors.rows(); }
  int64_t length() const { return vectors.columns(); }
  T* at(int64_t i) { return vectors.data() + i * length(); }

  // Makes reflection i, which maps x, elements [first, length), to (beta, 0, 0, ...), and returns
  // beta.
  T make(int64_t i, int64_t first, const T* x);

  // c <- H[begin] ... H[end - 1] c, or c <- H[end - 1] ... H[begin] c with `reversed`. c has
  // `length` rows of n elements. The vectors are 0 before `first`.
  void apply(int64_t begin, int64_t end, int64_t first, bool reversed, T* c, int64_t c_row,
             int64_t n);

  // The first rows of H[0] H[1] ... , as `columns` columns. Vector i begins at i + shift.
  tenon_sdk::DenseMatrix<T> product(int64_t columns, int64_t shift);
};

}  // namespace tenon_simd
