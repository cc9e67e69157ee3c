// A run-time BLAS, for the products for which it is faster than the tiles of multiply.h.

#pragma once

#include "plugins/simd/blas_table.h"
#include "plugins/simd/kernels/multiply.h"

namespace tenon_simd {

// Whether products of this shape use a BLAS where there is one. Depends on shape and dtype only, so
// that all layouts of a shape give the same bits.
template <class T>
bool is_blas_product(int64_t m, int64_t n, int64_t k) {
  // Measured with OpenBLAS 0.3.21: for smaller sides, its lead is less than 5 %.
  constexpr int64_t kMinSide = sizeof(T) == sizeof(float) ? 1536 : 768, kMaxSide = 1 << 24;
  return std::min({m, n, k}) >= kMinSide && std::max({m, n, k}) <= kMaxSide;
}

// c = a b. Copies an operand whose rows are not contiguous, since a BLAS gives other bits for
// transposed operands.
void blas_multiply(const Blas& blas, const Pool& pool, int64_t m, int64_t n, int64_t k,
                   const Matrix<float>& a, const Matrix<float>& b, float* c);
void blas_multiply(const Blas& blas, const Pool& pool, int64_t m, int64_t n, int64_t k,
                   const Matrix<double>& a, const Matrix<double>& b, double* c);

}  // namespace tenon_simd
