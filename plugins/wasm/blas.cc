// There is no BLAS: the tiles of plugins/simd compute all products.

#include "plugins/simd/kernels/blas.h"

namespace tenon_simd {

bool blas_takes(int64_t, int64_t, int64_t) { return false; }

void blas_multiply(const Pool&, int64_t, int64_t, int64_t, const Matrix<float>&,
                   const Matrix<float>&, float*) {}
void blas_multiply(const Pool&, int64_t, int64_t, int64_t, const Matrix<double>&,
                   const Matrix<double>&, double*) {}

}  // namespace tenon_simd
