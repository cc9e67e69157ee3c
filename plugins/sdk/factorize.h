// Factorisations of dense matrices by plain loops. `ref` uses them as the oracle, and plugins
// without a linear algebra library use them, too. Some functions overwrite their operands. All
// assume finite elements.

#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "plugins/sdk/matrix.h"

namespace tenon_sdk {

template <class W>
struct Loops {
  using Number = W;
  using Matrix = DenseMatrix<W>;

  // Replaces the lower triangle of a symmetric matrix by its Cholesky factor. Returns false if the
  // matrix is not positive definite.
  static bool cholesky(Matrix& a) {
    for (int64_t i = 0; i < a.rows(); ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        W rest = a(i, j);
        for (int64_t k = 0; k < j; ++k) rest -= a(i, k) * a(j, k);
        if (i == j && !(rest > 0)) return false;
        a(i, j) = i == j ? std::sqrt(rest) : rest / a(j, j);
      }
    }
    return true;
  }

  // Solves a x = b for a triangular matrix a, and replaces b by x.
  static void substitute(const Matrix& a, bool lower, bool unit_diagonal, Matrix& b) {
    const int64_t n = a.rows();
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = lower ? step : n - 1 - step;
      const int64_t first = lower ? 0 : i + 1, last = lower ? i : n;
      for (int64_t j = 0; j < b.columns(); ++j) {
        W rest = b(i, j);
        for (int64_t k = first; k < last; ++k) rest -= a(i, k) * b(k, j);
        b(i, j) = unit_diagonal ? rest : rest / a(i, i);
      }
    }
  }

  // Gaussian elimination with partial pivoting: leaves the pivots on the diagonal of `a`. Returns
  // true if the number of row swaps is odd.
  static bool eliminate(Matrix& a) {
    const std::vector<int64_t> swaps = factorize_lu(a);
    bool is_odd = false;
    for (size_t i = 0; i < swaps.size(); ++i) {
      is_odd = is_odd != (swaps[i] != static_cast<int64_t>(i));
    }
    return is_odd;
  }

  // Solves a x = b, and replaces b by x. Returns false if a is singular.
  static bool solve(Matrix& a, Matrix& b) {
    const std::vector<int64_t> swaps = factorize_lu(a);
    for (int64_t i = 0; i < a.rows(); ++i) {
      if (a(i, i) == 0) return false;
      swap_rows(b, i, swaps[static_cast<size_t>(i)]);
    }
    substitute(a, true, true, b);
    substitute(a, false, false, b);
    return true;
  }

  // QR factorisation by Householder reflections, which make `a` upper triangular.
  static void qr(Matrix& a, Matrix& q, Matrix& r) {
    const int64_t m = a.rows(), n = a.columns(), n_reflections = r.rows();
    Matrix mirrors(n_reflections, m);  // Each row is the vector of a reflection.
    for (int64_t i = 0; i < n_reflections; ++i) {
      W length = 0;
      for (int64_t k = i; k < m; ++k) length += a(k, i) * a(k, i);
      length = std::sqrt(length);
      for (int64_t k = i; k < m; ++k) mirrors(i, k) = a(k, i);
      mirrors(i, i) += a(i, i) < 0 ? -length : length;  // Choosing this sign avoids cancellation.
      reflect(mirrors, i, a, i);
      for (int64_t j = 0; j < n; ++j) r(i, j) = j < i ? W{0} : a(i, j);
    }
    q.set_identity();
    for (int64_t i = n_reflections; i-- > 0;) reflect(mirrors, i, q, 0);
  }

  // SVD by the one-sided Jacobi method: rotates pairs of columns until all columns are orthogonal.
  // Transposes x first if it has more columns than rows. Returns false if it does not converge.
  static bool svd(const Matrix& x, Matrix& u, std::vector<W>& s, Matrix& vh) {
    if (x.rows() < x.columns()) {
      Matrix v(x.columns(), x.rows()), uh(x.rows(), x.rows());
      const bool found = svd(x.transposed(), v, s, uh);
      u = uh.transposed();
      vh = v.transposed();
      return found;
    }
    Matrix columns = x.transposed(),
           turns(x.columns(), x.columns());  // Both matrices are stored transposed.
    turns.set_identity();
    if (!make_orthogonal(columns, turns)) return false;
    for (int64_t i = 0; i < columns.rows(); ++i) s.push_back(std::sqrt(dot(columns, i, i)));
    const std::vector<int64_t> order = ascending_order(s);
    const int64_t k = x.columns();
    Matrix left(k, x.rows());
    for (int64_t i = 0; i < k; ++i) {
      const int64_t from = order[static_cast<size_t>(k - 1 - i)];
      const W length = std::sqrt(dot(columns, from, from));
      s[static_cast<size_t>(i)] = length;
      for (int64_t j = 0; j < k; ++j) vh(i, j) = turns(from, j);
      for (int64_t j = 0; j < x.rows(); ++j) {
        left(i, j) = length > 0 ? columns(from, j) / length : W{0};
      }
      if (!(length > 0)) complete_orthonormal_row(left, i);
    }
    u = left.transposed();
    return true;
  }

  // Eigenvalues and eigenvectors of a symmetric matrix by the Jacobi method: rotates until all
  // elements off the diagonal are negligible. Reads only the lower triangle. Returns false if it
  // does not converge.
  static bool eigh(Matrix& x, std::vector<W>& w, Matrix& v) {
    const int64_t n = x.rows();
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i + 1; j < n; ++j) x(i, j) = x(j, i);
    }
    Matrix vectors(n, n);  // The eigenvectors, stored transposed.
    vectors.set_identity();
    if (!make_diagonal(x, vectors)) return false;
    for (int64_t i = 0; i < n; ++i) w.push_back(x(i, i));
    const std::vector<int64_t> order = ascending_order(w);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = order[static_cast<size_t>(i)];
      w[static_cast<size_t>(i)] = x(from, from);
      for (int64_t j = 0; j < n; ++j) v(j, i) = vectors(from, j);
    }
    return true;
  }

 private:
  static constexpr int kMaxSweeps =
      60;  // Maximum number of sweeps. Ten are typically more than enough.
  // Distance from 1 to the next larger number, computed because numeric_limits does not support
  // binary128.
  static constexpr W kEpsilon = [] {
    W epsilon = 1;
    while (W{1} + epsilon / 2 != W{1}) epsilon /= 2;
    return epsilon;
  }();

  // Swaps rows i and k.
  static void swap_rows(Matrix& a, int64_t i, int64_t k) {
    for (int64_t j = 0; i != k && j < a.columns(); ++j) std::swap(a(i, j), a(k, j));
  }

  // Computes the LU factorisation with partial pivoting in place: U is in the upper triangle, and
  // the multipliers of L are below the diagonal. Returns the row swaps: step i swapped row i with
  // row swaps[i] >= i, which had the largest element in column i.
  static std::vector<int64_t> factorize_lu(Matrix& a) {
    const int64_t n = a.rows();
    std::vector<int64_t> swaps;
    for (int64_t i = 0; i < n; ++i) {
      int64_t pivot = i;
      for (int64_t k = i + 1; k < n; ++k) {
        if (std::abs(a(k, i)) > std::abs(a(pivot, i))) pivot = k;
      }
      swaps.push_back(pivot);
      swap_rows(a, i, pivot);
      if (a(i, i) == 0)
        continue;  // The pivot has the largest magnitude, so all elements below it are also 0.
      for (int64_t k = i + 1; k < n; ++k) {
        a(k, i) /= a(i, i);
        for (int64_t j = i + 1; j < n; ++j) a(k, j) -= a(k, i) * a(i, j);
      }
    }
    return swaps;
  }

  // Returns the dot product of rows i and k.
  static W dot(const Matrix& a, int64_t i, int64_t k) {
    W sum = 0;
    for (int64_t j = 0; j < a.columns(); ++j) sum += a(i, j) * a(k, j);
    return sum;
  }

  // Returns the indices of the values, from the smallest value to the largest.
  static std::vector<int64_t> ascending_order(const std::vector<W>& values) {
    std::vector<int64_t> order(values.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return values[static_cast<size_t>(a)] < values[static_cast<size_t>(b)];
    });
    return order;
  }

  // Applies Householder reflection i to the columns of `a`, from column `first` on.
  static void reflect(const Matrix& mirrors, int64_t i, Matrix& a, int64_t first) {
    const W squared = dot(mirrors, i, i);
    if (squared == 0) return;
    for (int64_t j = first; j < a.columns(); ++j) {
      W along = 0;
      for (int64_t k = i; k < a.rows(); ++k) along += mirrors(i, k) * a(k, j);
      const W factor = 2 * along / squared;
      for (int64_t k = i; k < a.rows(); ++k) a(k, j) -= factor * mirrors(i, k);
    }
  }

  struct Rotation {
    W cosine, sine;

    // Computes the rotation that diagonalises [[p, off], [off, q]]; of the two such rotations, the
    // one with the smaller angle.
    Rotation(W p, W off, W q) {
      const W ratio = (q - p) / (2 * off);
      const W root = std::hypot(W{1}, ratio);
      const W tangent = 1 / (ratio < 0 ? ratio - root : ratio + root);
      cosine = 1 / std::sqrt(1 + tangent * tangent);
      sine = cosine * tangent;
    }
    void turn(W& a, W& b) const {
      const W held = a;
      a = cosine * held - sine * b;
      b = sine * held + cosine * b;
    }
    void turn_rows(Matrix& a, int64_t i, int64_t k) const {
      for (int64_t j = 0; j < a.columns(); ++j) turn(a(i, j), a(k, j));
    }
  };

  // Rotates pairs of rows of `columns` until all rows are orthogonal, and applies the rotations to
  // `turns`. Returns false if this does not converge. A row that is negligible relative to the
  // longest and still not orthogonal consists of rounding errors. It is set to zero, because
  // rotations would only shrink it and never converge.
  static bool make_orthogonal(Matrix& columns, Matrix& turns) {
    const W negligible = kEpsilon * std::sqrt(static_cast<W>(columns.columns()));
    W longest = 0;
    for (int64_t i = 0; i < columns.rows(); ++i) longest = std::max(longest, dot(columns, i, i));
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      bool turned = false;
      for (int64_t i = 0; i < columns.rows(); ++i) {
        for (int64_t k = i + 1; k < columns.rows(); ++k) {
          const W a = dot(columns, i, i), b = dot(columns, k, k), off = dot(columns, i, k);
          if (!(std::abs(off) > negligible * std::sqrt(a) * std::sqrt(b))) continue;
          turned = true;
          if (std::min(a, b) < kEpsilon * kEpsilon * longest) {
            const int64_t shorter = a < b ? i : k;
            for (int64_t j = 0; j < columns.columns(); ++j) columns(shorter, j) = 0;
            continue;
          }
          const Rotation rotation(a, off, b);
          rotation.turn_rows(columns, i, k);
          rotation.turn_rows(turns, i, k);
        }
      }
      if (!turned) return true;
    }
    return false;
  }

  // Rotates x until all elements off the diagonal are negligible, and applies the rotations to
  // `vectors`. Returns false if this does not converge.
  static bool make_diagonal(Matrix& x, Matrix& vectors) {
    const int64_t n = x.rows();
    W squares = 0;
    for (int64_t i = 0; i < n; ++i) squares += dot(x, i, i);
    const W negligible = kEpsilon * std::sqrt(squares) / static_cast<W>(std::max<int64_t>(1, n));
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      bool turned = false;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = i + 1; k < n; ++k) {
          if (!(std::abs(x(i, k)) > negligible)) continue;
          const Rotation rotation(x(i, i), x(i, k), x(k, k));
          rotation.turn_rows(x, i, k);
          for (int64_t j = 0; j < n; ++j) rotation.turn(x(j, i), x(j, k));
          rotation.turn_rows(vectors, i, k);
          turned = true;
        }
      }
      if (!turned) return true;
    }
    return false;
  }

  // Replaces row i by a unit vector that is orthogonal to all rows before it. Subtracts from each
  // standard basis vector its projections on these rows, and takes the first whose remainder is
  // long enough.
  static void complete_orthonormal_row(Matrix& rows, int64_t i) {
    const int64_t n = rows.columns();
    for (int64_t unit = 0; unit < n; ++unit) {
      for (int64_t j = 0; j < n; ++j) rows(i, j) = j == unit ? 1 : 0;
      for (int round = 0; round < 2;
           ++round) {  // The second round removes rounding errors of the first.
        for (int64_t k = 0; k < i; ++k) {
          const W along = dot(rows, i, k);
          for (int64_t j = 0; j < n; ++j) rows(i, j) -= along * rows(k, j);
        }
      }
      const W length = std::sqrt(dot(rows, i, i));
      if (length * length * static_cast<W>(2 * n) < 1) continue;
      for (int64_t j = 0; j < n; ++j) rows(i, j) /= length;
      return;
    }
  }
};

}  // namespace tenon_sdk
