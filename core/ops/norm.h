// What normalisations share: the mean and spread of groups of elements, their derivative, and the
// parameters that scale and move the result.

#pragma once

#include "core/ops/formulas.h"

namespace tenon {

// Over some axes, which stay with size 1.
struct Statistics {
  Tensor mean;
  Tensor variance;  // Of the population.
  Tensor inv_std;   // 1 / sqrt(variance + epsilon).
  Tensor centered;  // x - mean.
};

Statistics statistics(const Tensor& x, const Ints& axes, double epsilon);

// What reaches x, where z = (x - mean) * inv_std and `dz` reaches z, `dmean` the mean as a result
// of its own, and `dinv_std` that of 1 / sqrt(variance + epsilon). The last two may be empty.
Tensor statistics_dx(const Tensor& z, const Tensor& inv_std, const Ints& axes, const Tensor& dz,
                     const Tensor& dmean, const Tensor& dinv_std);

// ---- norms of all that lies behind one axis, whose parameters have those axes

// The axes from this one to the last.
Ints axes_from(int64_t axis, size_t rank);

// C1: p has the dtype of x. C3: it can be broadcast to the sizes of x from the axis on.
void require_behind(const TensorType& p, const TensorType& x, size_t axis, const char* name);

// ---- norms whose parameters have one element for each channel, axis 1 of x

struct GroupNormAttrs {
  double epsilon = 1e-5;   // Added to the variance.
  int64_t num_groups = 1;  // Into how many groups the channels are cut; it divides their number.
  TENON_ATTRS(epsilon, num_groups)
};

// C1: x and its parameters, the inputs 1 and 2, are floating point and of one dtype. C2: x has a
// batch and channels. C3: a parameter has one element for each channel.
void require_channels(TypeSpan in);

// The values as they broadcast to x, in the dtype to compute in.
Tensor by_channel(const Tensor& values, const TensorType& x);

// All axes but that of the channels.
Ints all_but_channels(size_t rank);

}  // namespace tenon
