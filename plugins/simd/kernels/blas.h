// Matrix products by a BLAS library that is loaded at run time, for shapes for which it is faster
// than multiply.h.

#pragma once

#include "plugins/simd/blas_table.h"
#include "plugins/simd/kernels/multiply.h"

namespace tenon_simd {

// Whether products of this shape use a BLAS if one is loaded. Depends on shape and dtype only, so
// that all memory layouts give the same bits.
template <class T>
bool is_blas_product(int64_t m, int64_t n, int64_t k) {
  // Measured with OpenBLAS 0.3.21: for smaller sides, a BLAS is less than 5 % faster.
  constexpr int64_t kMinSide = sizeof(T) == sizeof(float) ? 1536 : 768, kMaxSide = 1 << 24;
  return std::min({m, n, k}) >= kMinSide && std::max({m, n, k}) <= kMaxSide;
}

// Computes c = a b. Copies an operand whose rows are not contiguous, because a BLAS gives different
// bits for transposed operands.
void blas_multiply(const Blas& blas, const Pool& pool, int64_t m, int64_t n, int64_t k,
                   const Matrix<float>& a, const Matrix<float>& b, float* c);
void blas_multiply(const Blas& blas, const Pool& pool, int64_t m, int64_t n, int64_t k,
                   const Matrix<double>& a, const Matrix<double>& b, double* c);

}  // namespace tenon_simd
