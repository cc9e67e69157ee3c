// Convolutions with 3x3 filters by Winograd's algorithm (vectors/winograd.h). It rounds differently
// from the sum of products, so it is for the numeric policy `fast` only, and only while the
// transformed filters are kept between launches.

#pragma once

#include "plugins/simd/kernels/filter_panels.h"

namespace tenon_simd {

// Computes the convolution by Winograd's algorithm if that pays off, otherwise returns false.
// `bias` may be NULL. `y` is dense.
bool convolve_by_winograd(const Pool& pool, const KeptFilters& kept, const Window& window,
                          const float* x, const Planes& x_planes, const Filter<float>& filter,
                          const float* bias, int64_t bias_stride, float* y, const Spatial& out);

}  // namespace tenon_simd
