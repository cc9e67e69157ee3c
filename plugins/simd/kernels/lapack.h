// The LAPACK in OpenBLAS, with the interface of tenon_sdk::Loops.
//
// LAPACK is column-major and our matrices are row-major, so LAPACK sees their transposes.

#pragma once

#include "plugins/simd/kernels.h"
#include "plugins/sdk/factorize.h"

namespace tenon_simd {

#if defined(TENON_SIMD_LAPACK)

// Whether matrices with sides of this length, and their work memory, fit LAPACK's 32-bit sizes.
inline bool lapack_takes(int64_t longest_side) { return longest_side <= 1 << 23; }

template <class T>
struct Lapack {
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

#else

inline bool lapack_takes(int64_t) { return false; }

template <class T>
using Lapack = tenon_sdk::Loops<T>;

#endif

}  // namespace tenon_simd
