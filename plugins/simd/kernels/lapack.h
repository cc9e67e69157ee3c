// The decompositions that kernels call: those of LAPACK if it is loaded and faster for the size,
// otherwise those of blocked.h.

#pragma once

#include "plugins/simd/kernels/blocked.h"

namespace tenon_simd {

// Has the interface of tenon_sdk::Loops.
template <class T>
struct Decompositions {
  using Number = T;
  using Matrix = tenon_sdk::DenseMatrix<T>;

  const Instance* instance = nullptr;

  bool cholesky(Matrix& a) const;
  bool svd(Matrix& x, Matrix& u, std::vector<T>& s, Matrix& vh) const;
  bool eigh(Matrix& x, std::vector<T>& w, Matrix& v) const;

  // Tenon's own code is faster than LAPACK for every size.
  static void substitute(const Matrix& a, bool lower, bool unit_diagonal, Matrix& b) {
    Blocked<T>::substitute(a, lower, unit_diagonal, b);
  }
  static bool eliminate(Matrix& a) { return Blocked<T>::eliminate(a); }
  static bool solve(Matrix& a, Matrix& b) { return Blocked<T>::solve(a, b); }
  static void qr(Matrix& a, Matrix& q, Matrix& r) { Blocked<T>::qr(a, q, r); }
};

}  // namespace tenon_simd
