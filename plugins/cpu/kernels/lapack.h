// The LAPACK that OpenBLAS brings, with the functions of tenon_sdk::Loops.
//
// LAPACK reads columns where our matrices have rows: it sees the transpose of what is handed over.

#pragma once

#include "plugins/cpu/kernels.h"
#include "plugins/sdk/factorize.h"

namespace tenon_cpu {

#if defined(TENON_CPU_OPENBLAS)

// Whether LAPACK's 32-bit sizes hold matrices with sides of this length, and what it works in.
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

}  // namespace tenon_cpu
