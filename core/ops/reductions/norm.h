// Shared by normalisations: the mean and variance of groups of elements, their derivative, and the
// parameters that scale and shift the result.

#pragma once

#include "core/ops/reductions/square_scale.h"

namespace tenon {

// Statistics over some axes, which are kept with size 1.
struct Statistics {
  Tensor mean;
  ops::SquareScale scale;
  Tensor scaled;           // x - mean, multiplied by the factor of `scale`.
  Tensor scaled_variance;  // The mean of the squares of `scaled`.
  Tensor inv_scaled_std;   // 1 / sqrt(variance + epsilon), divided by that factor.

  // The population variance.
  Tensor variance() const { return scale.undo(scale.undo(scaled_variance)); }
  // 1 / sqrt(variance + epsilon).
  Tensor inv_std() const { return scale.of(inv_scaled_std); }
};

// `from` is the dtype that x was widened from.
Statistics statistics(const Tensor& x, const Ints& axes, DType from, double epsilon);

// 1 / sqrt(mean_square + epsilon), divided by the factor of the scale. `mean_square` is the mean of
// scaled squares.
Tensor inverse_root(const Tensor& mean_square, const ops::SquareScale& scale, double epsilon);

// Cotangents of the statistics where they are outputs themselves; each may be empty.
struct StatisticsCotangents {
  Tensor mean, variance, inv_std;
};

// The cotangent of x, where z = (x - mean) * inv_std, `dz` is the cotangent of z and `d` those of
// the statistics.
Tensor statistics_dx(const Tensor& z, const Tensor& inv_std, const Ints& axes, const Tensor& dz,
                     const StatisticsCotangents& d);

// ---- norms over an axis and all after it, whose parameters have those axes

// The axes from this one to the last.
Ints axes_from(int64_t axis, size_t rank);

// Checks C1: p has the dtype of x. Checks C3: p can be broadcast to the axes of x from `axis` on.
void require_from_axis(const TensorType& p, const TensorType& x, size_t axis, const char* name);

// ---- norms whose parameters have one element for each channel, axis 1 of x

struct GroupNormAttrs {
  double epsilon = 1e-5;   // Added to the variance.
  int64_t num_groups = 1;  // Number of groups of channels; it divides the number of channels.
  TENON_ATTRS(epsilon, num_groups)
};

// Checks C1: x and its parameters, inputs 1 and 2, are floating point and of one dtype. Checks C2:
// x has a batch and channels. Checks C3: a parameter has one element for each channel.
void require_channels(TypeSpan in);

// The values, shaped so that they broadcast to x, in the compute dtype.
Tensor by_channel(const Tensor& values, const TensorType& x);

// All axes except the channels.
Ints all_but_channels(size_t rank);

}  // namespace tenon
