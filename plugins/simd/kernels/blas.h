// OpenBLAS, for the products for which it is faster than the tiles of multiply.h.

#pragma once

#include "plugins/simd/kernels/multiply.h"

namespace tenon_simd {

// Whether a product of this shape uses OpenBLAS. Depends on the shape and the machine only, so that
// all layouts of a shape give the same bits.
bool blas_takes(int64_t m, int64_t n, int64_t k);

// c = a b. Copies an operand whose rows are not contiguous, since OpenBLAS gives other bits for
// transposed operands.
void blas_multiply(const Pool& pool, int64_t m, int64_t n, int64_t k, const Matrix<float>& a,
                   const Matrix<float>& b, float* c);
void blas_multiply(const Pool& pool, int64_t m, int64_t n, int64_t k, const Matrix<double>& a,
                   const Matrix<double>& b, double* c);

}  // namespace tenon_simd
