#include "plugins/simd/kernels/reflections.h"

#include <cmath>

#include "plugins/simd/kernels/blocked.h"
#include "plugins/simd/vectors/dense_steps.h"

namespace tenon_simd {

template <class T>
T Reflections<T>::make(int64_t i, int64_t first, const T* x) {
  const int64_t n = length() - first;
  T* const v = at(i) + first;
  T& factor = tau[static_cast<size_t>(i)];
  std::fill(at(i), v, T{0});
  std::copy_n(x, n, v);
  const T alpha = v[0];
  T most = std::abs(alpha), beside = 0;
  for (int64_t j = 1; j < n; ++j) beside = std::max(beside, std::abs(v[j]));
  most = std::max(most, beside);
  if (beside == 0) {
    factor = 0;
    v[0] = 1;
    return alpha;
  }
  // Scales tiny elements by a power of two, which is exact, because their squares would underflow.
  constexpr T kTiny = sizeof(T) == sizeof(float) ? T(0x1p-40) : T(0x1p-400);
  const int exponent = most < kTiny ? -std::ilogb(most) : 0;
  if (exponent != 0) {
    for (int64_t j = 0; j < n; ++j) v[j] = std::ldexp(v[j], exponent);
  }
  const T size = std::sqrt(dense_steps<T>().dot(v, v, n));
  // The sign of beta avoids cancellation.
  const T first_element = v[0], beta = first_element < 0 ? size : -size;
  factor = (beta - first_element) / beta;
  const T divisor = first_element - beta;
  for (int64_t j = 1; j < n; ++j) v[j] /= divisor;
  v[0] = 1;
  return std::ldexp(beta, -exponent);
}

template <class T>
void Reflections<T>::apply(int64_t begin, int64_t end, int64_t first, bool reversed, T* c,
                           int64_t c_row, int64_t n) {
  const int64_t size = end - begin, m = length() - first;
  if (n == 0 || m == 0) return;
  const auto dot = dense_steps<T>().dot;
  const T* const v = at(begin) + first;
  // t is upper triangular: H[begin] ... H[end - 1] is I - V^T t V, with the vectors as rows of V.
  T t[kBlock][kBlock] = {};
  for (int64_t j = 0; j < size; ++j) {
    const T factor = tau[static_cast<size_t>(begin + j)];
    T along[kBlock];
    for (int64_t i = 0; i < j; ++i) along[i] = dot(v + i * length(), v + j * length(), m);
    for (int64_t i = 0; i < j; ++i) {
      T sum = 0;
      for (int64_t k = i; k < j; ++k) sum += t[i][k] * along[k];
      t[i][j] = -factor * sum;
    }
    t[j][j] = factor;
  }
  T* const from = c + first * c_row;
  std::vector<T> memory(static_cast<size_t>(2 * size * n));
  T* const along = memory.data();
  T* const change = along + size * n;
  multiply_dense(size, n, m, Matrix<T>{v, length(), 1}, Matrix<T>{from, c_row, 1}, along, n, false);
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t k = 0; k < size; ++k) {
      const T factor = reversed ? t[k][i] : t[i][k];
      if (factor != 0) {
        dense_steps<T>().add_scaled(-factor, along + k * n, change + i * n, n);
      }
    }
  }
  multiply_dense(m, n, size, Matrix<T>{v, 1, length()}, Matrix<T>{change, n, 1}, from, c_row, true);
}

template <class T>
tenon_sdk::DenseMatrix<T> Reflections<T>::product(int64_t columns, int64_t shift) {
  tenon_sdk::DenseMatrix<T> made(length(), columns);
  made.set_identity();
  for (int64_t end = count(); end > 0;) {
    const int64_t begin = (end - 1) / kBlock * kBlock;
    // Rows and columns before `first` are still those of the identity matrix.
    const int64_t first = begin + shift;
    if (first < columns) {
      apply(begin, end, first, false, made.data() + first, columns, columns - first);
    }
    end = begin;
  }
  return made;
}

template struct Reflections<float>;
template struct Reflections<double>;

template <class T>
void Blocked<T>::qr(Matrix& a, Matrix& q, Matrix& r) {
  const int64_t m = a.rows(), n = a.columns(), k = r.rows();
  Reflections<T> reflections(k, m);
  constexpr int64_t kBlock = Reflections<T>::kBlock;
  std::vector<T> panel(static_cast<size_t>(kBlock * m));
  const auto& steps = dense_steps<T>();
  for (int64_t begin = 0; begin < k; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, k), width = end - begin, rows = m - begin;
    // Stores the columns of the panel as rows.
    multiply_tiles<T>().transpose(a.data() + begin * n + begin, n, panel.data(), rows, rows, width);
    for (int64_t j = 0; j < width; ++j) {
      T* const column = panel.data() + j * rows;
      column[j] = reflections.make(begin + j, begin + j, column + j);
      const T* const v = reflections.at(begin + j) + begin + j;
      const T tau = reflections.tau[static_cast<size_t>(begin + j)];
      for (int64_t i = j + 1; i < width; ++i) {
        T* const other = panel.data() + i * rows + j;
        steps.add_scaled(-tau * steps.dot(v, other, rows - j), v, other, rows - j);
      }
      for (int64_t i = 0; i <= j; ++i) a(begin + i, begin + j) = column[i];
    }
    reflections.apply(begin, end, begin, true, a.data() + end, n, n - end);
  }
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < n; ++j) r(i, j) = j < i ? T{0} : a(i, j);
  }
  q = reflections.product(k, 0);
}

template void Blocked<float>::qr(Matrix& a, Matrix& q, Matrix& r);
template void Blocked<double>::qr(Matrix& a, Matrix& q, Matrix& r);

}  // namespace tenon_simd
