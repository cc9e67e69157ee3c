// Matrix decompositions that use Tenon's own matrix product, with the interface of
// tenon_sdk::Loops. They are used if no LAPACK is loaded.
//
// Matrices are row-major, so all inner loops run along rows. Cholesky and LU factorisation and
// triangular systems are recursive: they halve the matrix until it is small, so that most of the
// work is matrix products. QR combines 32 reflections into one product (the compact WY form).
// Eigenvalues and singular values are computed in two steps, as in LAPACK: reflections reduce the
// matrix to tridiagonal or bidiagonal form, and rotations make it diagonal.

#pragma once

#include "plugins/sdk/factorize.h"
#include "plugins/simd/kernels/multiply.h"

namespace tenon_simd {

template <class T>
struct Blocked {
  using Number = T;
  using Matrix = tenon_sdk::DenseMatrix<T>;

  // Replaces the lower triangle of a symmetric matrix by its Cholesky factor. Returns false if the
  // matrix is not positive definite.
  static bool cholesky(Matrix& a);
  // Solves a x = b for a triangular matrix a, and replaces b by x.
  static void substitute(const Matrix& a, bool lower, bool unit_diagonal, Matrix& b);
  // Gaussian elimination: leaves the pivots on the diagonal of `a`. Returns true if the number of
  // row swaps is odd.
  static bool eliminate(Matrix& a);
  // Solves a x = b, and replaces b by x. Returns false if a is singular.
  static bool solve(Matrix& a, Matrix& b);
  // QR factorisation. Overwrites `a`.
  static void qr(Matrix& a, Matrix& q, Matrix& r);
  // Singular value decomposition. Overwrites `x`. Returns false if it does not converge.
  static bool svd(Matrix& x, Matrix& u, std::vector<T>& s, Matrix& vh);
  // Eigenvalues and eigenvectors of a symmetric matrix. Overwrites `x`. Returns false if it does
  // not converge.
  static bool eigh(Matrix& x, std::vector<T>& w, Matrix& v);
};

// Computes c = a b or, with `add`, c += a b on the calling thread. c has m rows and n columns.
template <class T>
void multiply_dense(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b, T* c,
                    int64_t c_row, bool add);

}  // namespace tenon_simd
