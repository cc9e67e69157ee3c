// The linear algebra ops, each on one matrix of a launch. They load inputs, store outputs, define
// the results if there is no solution (NaN), and choose among equally valid solutions so that
// devices agree.
//
// `F` provides the factorisations: Loops in factorize.h, or another class with the same functions,
// static or not.

#pragma once

#include "plugins/sdk/factorize.h"

namespace tenon_sdk {

template <class T, class F>
struct MatrixKernels {
  using W = typename F::Number;
  using Matrix = DenseMatrix<W>;

  F factorisations{};

  // Stores the Cholesky factor of matrix number `index`, upper or lower.
  void cholesky(const tenon_launch& launch, int64_t index, bool upper) const {
    MatrixView<const T> x(launch.inputs[0], index);
    MatrixView<T> y(launch.outputs[0], index);
    if (upper) {
      x = x.transposed();
      y = y.transposed();
    }
    Matrix a(x);
    a.clear_above();
    if (!a.is_finite() || !factorisations.cholesky(a)) a.set_nan();
    a.clear_above();
    a.store(y);
  }

  // y a = b is equivalent to a^T y^T = b^T. Transposing a lower triangle gives an upper one.
  void triangular_solve(const tenon_launch& launch, int64_t index, bool lower, bool transpose,
                        bool unit_diagonal, bool left) const {
    MatrixView<const T> a(launch.inputs[0], index), b(launch.inputs[1], index);
    MatrixView<T> y(launch.outputs[0], index);
    if (!left) {
      b = b.transposed();
      y = y.transposed();
    }
    if (transpose == left) {
      a = a.transposed();
      lower = !lower;
    }
    Matrix solution(b);
    factorisations.substitute(Matrix(a), lower, unit_diagonal, solution);
    solution.store(y);
  }

  // Solves a x = b for pair number `index` of operands.
  void solve(const tenon_launch& launch, int64_t index) const {
    Matrix a(MatrixView<const T>(launch.inputs[0], index));
    Matrix solution(MatrixView<const T>(launch.inputs[1], index));
    if (!a.is_finite() || !factorisations.solve(a, solution)) solution.set_nan();
    solution.store(MatrixView<T>(launch.outputs[0], index));
  }

  // Stores the determinant of matrix number `index`.
  void det(const tenon_launch& launch, int64_t index) const {
    Matrix x(MatrixView<const T>(launch.inputs[0], index));
    W product = W{NAN};
    if (x.is_finite()) {
      product = factorisations.eliminate(x) ? -1 : 1;
      for (int64_t i = 0; i < x.rows(); ++i) product *= x(i, i);
    }
    data<T>(launch.outputs[0])[index] = static_cast<T>(product);
  }

  // Stores the sign and the log of the magnitude of the determinant of matrix number `index`.
  void slogdet(const tenon_launch& launch, int64_t index) const {
    Matrix x(MatrixView<const T>(launch.inputs[0], index));
    W sign = W{NAN}, log = sign;
    if (x.is_finite()) {
      sign = factorisations.eliminate(x) ? -1 : 1;
      log = 0;
      for (int64_t i = 0; i < x.rows(); ++i) {
        sign *= x(i, i) < 0 ? W{-1} : x(i, i) > 0 ? W{1} : x(i, i);
        log += std::log(std::abs(x(i, i)));
      }
    }
    data<T>(launch.outputs[0])[index] = static_cast<T>(sign);
    data<T>(launch.outputs[1])[index] = static_cast<T>(log);
  }

  // The QR factorisation is unique only up to signs. Chooses the signs that make the diagonal of r
  // nonnegative.
  void qr(const tenon_launch& launch, int64_t index) const {
    Matrix x(MatrixView<const T>(launch.inputs[0], index));
    const int64_t rank = std::min(x.rows(), x.columns());
    Matrix q(x.rows(), rank), r(rank, x.columns());
    if (x.is_finite()) {
      const W scale = scale_to_unit(x);
      factorisations.qr(x, q, r);
      r.multiply(1 / scale);
      for (int64_t i = 0; i < rank; ++i) {
        if (!(r(i, i) < 0)) continue;
        negate_column(q, i);
        negate_row(r, i);
      }
    } else {
      q.set_nan();
      r.set_nan();
    }
    q.store(MatrixView<T>(launch.outputs[0], index));
    r.store(MatrixView<T>(launch.outputs[1], index));
  }

  // Stores the singular values and vectors of matrix number `index`.
  void svd(const tenon_launch& launch, int64_t index) const {
    Matrix x(MatrixView<const T>(launch.inputs[0], index));
    const int64_t rank = std::min(x.rows(), x.columns());
    Matrix u(x.rows(), rank), vh(rank, x.columns());
    std::vector<W> s;
    const W scale = x.is_finite() ? scale_to_unit(x) : W{0};
    if (scale != 0 && factorisations.svd(x, u, s, vh)) {
      for (int64_t i = 0; i < rank; ++i) {
        s[static_cast<size_t>(i)] /= scale;
        if (!has_negative_peak(u, i)) continue;
        negate_column(u, i);
        negate_row(vh, i);
      }
    } else {
      u.set_nan();
      vh.set_nan();
      s.assign(static_cast<size_t>(rank), W{NAN});
    }
    u.store(MatrixView<T>(launch.outputs[0], index));
    store_vector(s, launch.outputs[1], index);
    vh.store(MatrixView<T>(launch.outputs[2], index));
  }

  // Stores the eigenvalues and eigenvectors of symmetric matrix number `index`.
  void eigh(const tenon_launch& launch, int64_t index) const {
    Matrix x(MatrixView<const T>(launch.inputs[0], index));
    x.clear_above();
    Matrix v(x.rows(), x.rows());
    std::vector<W> w;
    const W scale = x.is_finite() ? scale_to_unit(x) : W{0};
    if (scale != 0 && factorisations.eigh(x, w, v)) {
      for (W& value : w) value /= scale;
      for (int64_t i = 0; i < x.rows(); ++i) {
        if (has_negative_peak(v, i)) negate_column(v, i);
      }
    } else {
      v.set_nan();
      w.assign(static_cast<size_t>(x.rows()), W{NAN});
    }
    store_vector(w, launch.outputs[0], index);
    v.store(MatrixView<T>(launch.outputs[1], index));
  }

 private:
  // Scales the matrix by a power of two so that its largest element is about 1 and squares neither
  // overflow nor underflow. The scaling is exact. Returns the factor.
  static W scale_to_unit(Matrix& x) {
    const W most = x.largest();
    if (most == 0) return 1;
    constexpr int kMaxExponent = 100;  // 2^100 and its reciprocal are in range of every type.
    const W scale = std::ldexp(W{1}, std::clamp(-std::ilogb(most), -kMaxExponent, kMaxExponent));
    x.multiply(scale);
    return scale;
  }

  // Whether the element with the largest magnitude in a column is negative. If several have that
  // magnitude up to rounding, the first one decides.
  static bool has_negative_peak(const Matrix& vectors, int64_t column) {
    W most = 0;
    for (int64_t i = 0; i < vectors.rows(); ++i) {
      most = std::max<W>(most, std::abs(vectors(i, column)));
    }
    for (int64_t i = 0; i < vectors.rows(); ++i) {
      const W element = vectors(i, column);
      if (std::abs(element) >= most * W(0.999)) return element < 0;
    }
    return false;
  }

  // Computes 0 - x instead of -x, so that zeros stay positive.
  static void negate_column(Matrix& a, int64_t column) {
    for (int64_t i = 0; i < a.rows(); ++i) a(i, column) = 0 - a(i, column);
  }
  static void negate_row(Matrix& a, int64_t row) {
    for (int64_t j = 0; j < a.columns(); ++j) a(row, j) = 0 - a(row, j);
  }

  // Stores `values` as vector number `index` of a dense operand that consists of vectors.
  static void store_vector(const std::vector<W>& values, const tenon_view& view, int64_t index) {
    T* to = data<T>(view) + index * static_cast<int64_t>(values.size());
    for (size_t i = 0; i < values.size(); ++i) to[i] = static_cast<T>(values[i]);
  }
};

}  // namespace tenon_sdk
