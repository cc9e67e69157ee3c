#include "plugins/simd/kernels/blocked.h"

#include <cmath>

#include "plugins/simd/vectors/dense_steps.h"

namespace tenon_simd {
namespace {

// Maximum number of rows or columns for which the loops below are faster than a matrix product.
constexpr int64_t kSmall = 16;

// Returns about half of `n`, rounded to a multiple of kSmall.
int64_t half_of(int64_t n) { return std::max(kSmall, n / 2 / kSmall * kSmall); }

// A mutable part of a matrix with contiguous rows.
template <class T>
struct Block {
  T* data;
  int64_t row;

  T* at(int64_t i) const { return data + i * row; }
  Block from(int64_t i, int64_t j) const { return {data + i * row + j, row}; }
  Matrix<T> matrix() const { return {data, row, 1}; }
  Matrix<T> transposed() const { return {data, 1, row}; }
};

// Returns the lower right block of a matrix, from row i and column j on.
template <class T>
Matrix<T> submatrix(const Matrix<T>& a, int64_t i, int64_t j) {
  return {a.data + i * a.row + j * a.column, a.row, a.column};
}

// Computes c -= a b, where `a` has m rows and k columns. `memory` is scratch memory for a dense
// copy of -b.
template <class T>
void subtract_product(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Block<T>& b,
                      const Block<T>& c, std::vector<T>& memory) {
  if (m == 0 || n == 0 || k == 0) return;
  memory.resize(std::max(memory.size(), static_cast<size_t>(k * n)));
  for (int64_t i = 0; i < k; ++i) {
    const T* const from = b.at(i);
    T* const to = memory.data() + i * n;
    for (int64_t j = 0; j < n; ++j) to[j] = -from[j];
  }
  multiply_dense(m, n, k, a, Matrix<T>{memory.data(), n, 1}, c.data, c.row, true);
}

// Solves a x = b for a triangular matrix `a` of n rows. x overwrites the `columns` columns of `b`.
template <class T>
void solve_triangle(const Matrix<T>& a, int64_t n, bool lower, bool unit_diagonal,
                    const Block<T>& b, int64_t columns, std::vector<T>& memory) {
  if (n > kSmall) {
    const int64_t half = half_of(n), rest = n - half;
    if (lower) {
      solve_triangle(a, half, lower, unit_diagonal, b, columns, memory);
      subtract_product(rest, columns, half, submatrix(a, half, 0), b, b.from(half, 0), memory);
      solve_triangle(submatrix(a, half, half), rest, lower, unit_diagonal, b.from(half, 0), columns,
                     memory);
    } else {
      solve_triangle(submatrix(a, half, half), rest, lower, unit_diagonal, b.from(half, 0), columns,
                     memory);
      subtract_product(half, columns, rest, submatrix(a, 0, half), b.from(half, 0), b, memory);
      solve_triangle(a, half, lower, unit_diagonal, b, columns, memory);
    }
    return;
  }
  const auto add_scaled = dense_steps<T>().add_scaled;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = lower ? step : n - 1 - step;
    const T* const factors = a.data + i * a.row;
    T* const row = b.at(i);
    const int64_t first = lower ? 0 : i + 1, last = lower ? i : n;
    if (columns == 1) {
      T rest = *row;
      for (int64_t k = first; k < last; ++k) rest -= factors[k * a.column] * *b.at(k);
      *row = unit_diagonal ? rest : rest / factors[i * a.column];
      continue;
    }
    for (int64_t k = first; k < last; ++k) {
      add_scaled(-factors[k * a.column], b.at(k), row, columns);
    }
    if (unit_diagonal) continue;
    const T divisor = factors[i * a.column];
    for (int64_t j = 0; j < columns; ++j) row[j] /= divisor;
  }
}

// Computes the upper triangle of c -= a^T a, where `a` has k rows and n columns.
template <class T>
void subtract_square(int64_t n, int64_t k, const Block<T>& a, const Block<T>& c,
                     std::vector<T>& memory) {
  constexpr int64_t kRows = 96;
  for (int64_t i = 0; i < n; i += kRows) {
    subtract_product(std::min(kRows, n - i), n - i, k, a.from(0, i).transposed(), a.from(0, i),
                     c.from(i, i), memory);
  }
}

// Overwrites the upper triangle of a symmetric matrix of n rows by the factor u with u^T u equal to
// the matrix. Returns false if the matrix is not positive definite.
template <class T>
bool upper_cholesky(const Block<T>& a, int64_t n, std::vector<T>& memory) {
  if (n > 2 * kSmall) {
    const int64_t half = half_of(n), rest = n - half;
    if (!upper_cholesky(a, half, memory)) return false;
    const Block<T> right = a.from(0, half), below = a.from(half, half);
    solve_triangle(a.transposed(), half, true, false, right, rest, memory);
    subtract_square(rest, half, right, below, memory);
    return upper_cholesky(below, rest, memory);
  }
  const auto add_scaled = dense_steps<T>().add_scaled;
  for (int64_t i = 0; i < n; ++i) {
    T* const row = a.at(i);
    if (!(row[i] > 0)) return false;
    const T root = std::sqrt(row[i]);
    row[i] = root;
    for (int64_t j = i + 1; j < n; ++j) row[j] /= root;
    for (int64_t k = i + 1; k < n; ++k) add_scaled(-row[k], row + k, a.at(k) + k, n - k);
  }
  return true;
}

// Swaps rows i and k in the first `columns` columns.
template <class T>
void swap_rows(const Block<T>& a, int64_t i, int64_t k, int64_t columns) {
  if (i != k) std::swap_ranges(a.at(i), a.at(i) + columns, a.at(k));
}

// Gaussian elimination of the first n columns of m rows, n <= kSmall. Works on a transposed copy in
// `memory`, so that columns are contiguous.
template <class T>
void eliminate_panel(const Block<T>& a, int64_t m, int64_t n, int64_t* swaps,
                     std::vector<T>& memory) {
  const auto add_scaled = dense_steps<T>().add_scaled;
  memory.resize(std::max(memory.size(), static_cast<size_t>(m * n)));
  const Block<T> columns{memory.data(), m};
  multiply_tiles<T>().transpose(a.data, a.row, columns.data, m, m, n);
  for (int64_t i = 0; i < std::min(m, n); ++i) {
    T* const column = columns.at(i);
    int64_t pivot = i;
    T most = std::abs(column[i]);
    for (int64_t k = i + 1; k < m; ++k) {
      if (std::abs(column[k]) > most) {
        most = std::abs(column[k]);
        pivot = k;
      }
    }
    swaps[i] = pivot;
    for (int64_t j = 0; pivot != i && j < n; ++j) {
      std::swap(columns.at(j)[i], columns.at(j)[pivot]);
    }
    if (column[i] == 0) continue;  // All elements below are 0 as well.
    const T divisor = column[i];
    for (int64_t k = i + 1; k < m; ++k) column[k] /= divisor;
    for (int64_t j = i + 1; j < n; ++j) {
      T* const other = columns.at(j);
      add_scaled(-other[i], column + i + 1, other + i + 1, m - i - 1);
    }
  }
  multiply_tiles<T>().transpose(columns.data, m, a.data, a.row, n, m);
}

// LU factorisation: replaces the first n columns of m rows by the upper triangle and, below it, the
// multipliers of the elimination. Swaps row i with row swaps[i] >= i in all columns up to `width`.
template <class T>
void eliminate_columns(const Block<T>& a, int64_t m, int64_t n, int64_t* swaps,
                       std::vector<T>& memory) {
  if (n <= kSmall) return eliminate_panel(a, m, n, swaps, memory);
  const int64_t half = half_of(n), rest = n - half;
  eliminate_columns(a, m, half, swaps, memory);
  const Block<T> right = a.from(0, half), below = a.from(half, half);
  for (int64_t i = 0; i < half; ++i) swap_rows(right, i, swaps[i], rest);
  solve_triangle(a.matrix(), half, true, true, right, rest, memory);
  subtract_product(m - half, rest, half, a.from(half, 0).matrix(), right, below, memory);
  eliminate_columns(below, m - half, rest, swaps + half, memory);
  for (int64_t i = half; i < n; ++i) {
    swaps[i] += half;
    swap_rows(a, i, swaps[i], half);
  }
}

// Replaces a square matrix by its LU factorisation. Returns the row swaps: step i swapped row i
// with row swaps[i] >= i.
template <class T>
std::vector<int64_t> factorize_lu(tenon_sdk::DenseMatrix<T>& a) {
  const int64_t n = a.rows();
  std::vector<int64_t> swaps(static_cast<size_t>(n));
  std::vector<T> memory;
  if (n > 0) eliminate_columns(Block<T>{a.data(), n}, n, n, swaps.data(), memory);
  return swaps;
}

}  // namespace

template <class T>
bool Blocked<T>::cholesky(Matrix& a) {
  const int64_t n = a.rows();
  std::vector<T> memory;
  // upper_cholesky() computes the upper factor, which is the transpose of the lower one.
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) a(i, j) = a(j, i);
  }
  if (!upper_cholesky(Block<T>{a.data(), n}, n, memory)) return false;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) a(j, i) = a(i, j);
  }
  return true;
}

template <class T>
void Blocked<T>::substitute(const Matrix& a, bool lower, bool unit_diagonal, Matrix& b) {
  std::vector<T> memory;
  if (b.columns() == 0) return;
  solve_triangle(tenon_simd::Matrix<T>{a.data(), a.columns(), 1}, a.rows(), lower, unit_diagonal,
                 Block<T>{b.data(), b.columns()}, b.columns(), memory);
}

template <class T>
bool Blocked<T>::eliminate(Matrix& a) {
  const std::vector<int64_t> swaps = factorize_lu(a);
  bool is_odd = false;
  for (size_t i = 0; i < swaps.size(); ++i) {
    is_odd = is_odd != (swaps[i] != static_cast<int64_t>(i));
  }
  return is_odd;
}

template <class T>
bool Blocked<T>::solve(Matrix& a, Matrix& b) {
  const std::vector<int64_t> swaps = factorize_lu(a);
  const Block<T> x{b.data(), b.columns()};
  for (int64_t i = 0; i < a.rows(); ++i) {
    if (a(i, i) == 0) return false;
    swap_rows(x, i, swaps[static_cast<size_t>(i)], b.columns());
  }
  substitute(a, true, true, b);
  substitute(a, false, false, b);
  return true;
}

template <class T>
void multiply_dense(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b, T* c,
                    int64_t c_row, bool add) {
  multiply_part(int64_t{0}, m, int64_t{0}, n, k, a, b, c, c_row, add);
}

template void multiply_dense(int64_t, int64_t, int64_t, const Matrix<float>&, const Matrix<float>&,
                             float*, int64_t, bool);
template void multiply_dense(int64_t, int64_t, int64_t, const Matrix<double>&,
                             const Matrix<double>&, double*, int64_t, bool);
template struct Blocked<float>;
template struct Blocked<double>;

}  // namespace tenon_simd
