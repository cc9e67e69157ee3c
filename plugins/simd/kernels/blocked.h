// Decompositions built on our own matrix product, with the interface of tenon_sdk::Loops. They
// serve where there is no LAPACK.
//
// Matrices are row-major, so everything works on rows. Cholesky factors, eliminations and
// triangular systems divide the matrix in half until a half is small; most of the work is then in
// products. QR gathers 32 reflections into one product (the compact WY form). Eigenvalues and
// singular values are found in two steps, as in LAPACK: reflections make the matrix tridiagonal or
// bidiagonal, and rotations make it diagonal.

#pragma once

#include "plugins/sdk/factorize.h"
#include "plugins/simd/kernels/multiply.h"

namespace tenon_simd {

template <class T>
struct Blocked {
  using Number = T;
  using Matrix = tenon_sdk::DenseMatrix<T>;

  static bool cholesky(Matrix& a);
  static void substitute(const Matrix& a, bool lower, bool unit_diagonal, Matrix& b);
  static bool eliminate(Matrix& a);
  static bool solve(Matrix& a, Matrix& b);
  static void qr(Matrix& a, Matrix& q, Matrix& r);
  static bool svd(Matrix& x, Matrix& u, std::vector<T>& s, Matrix& vh);
  static bool eigh(Matrix& x, std::vector<T>& w, Matrix& v);
};

// c = a b, or c += a b, of m rows and n columns, on this thread.
template <class T>
void multiply_dense(int64_t m, int64_t n, int64_t k, const Matrix<T>& a, const Matrix<T>& b, T* c,
                    int64_t c_row, bool add);

}  // namespace tenon_simd
