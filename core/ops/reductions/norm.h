// Shared by the normalisation ops: the mean and variance of groups of elements, their derivative,
// and the parameters `scale` and `bias`.

#pragma once

#include "core/ops/reductions/square_scale.h"

namespace tenon {

// Statistics over some axes, which remain with size 1.
struct Statistics {
  Tensor mean;
  ops::SquareScale scale;
  Tensor scaled;           // x - mean, multiplied by the factor of `scale`.
  Tensor scaled_variance;  // The mean of the squares of `scaled`.
  Tensor inv_scaled_std;   // 1 / sqrt(variance + epsilon), divided by the factor of `scale`.

  // The population variance.
  Tensor variance() const { return scale.undo(scale.undo(scaled_variance)); }
  // 1 / sqrt(variance + epsilon).
  Tensor inv_std() const { return scale.of(inv_scaled_std); }
};

// Computes the statistics of x over `axes`. `from` is the dtype before x was widened.
Statistics statistics(const Tensor& x, const Ints& axes, DType from, double epsilon);

// Returns 1 / sqrt(v + epsilon), divided by the factor of `scale`, where v is the mean of squares
// without scaling. `mean_square` is the mean of scaled squares.
Tensor inverse_root(const Tensor& mean_square, const ops::SquareScale& scale, double epsilon);

// Cotangents of statistics that are outputs of the op; an empty tensor means none.
struct StatisticsCotangents {
  Tensor mean, variance, inv_std;
};

// Returns the cotangent of x for z = (x - mean) * inv_std. `dz` is the cotangent of z, and `d` are
// those of the statistics.
Tensor statistics_dx(const Tensor& z, const Tensor& inv_std, const Ints& axes, const Tensor& dz,
                     const StatisticsCotangents& d);

// ---- norms over the axes from `axis` to the last; scale and bias have these axes

// Returns the axes from `axis` to the last.
Ints axes_from(int64_t axis, size_t rank);

// Checks that p has the dtype of x (C1) and broadcasts to the axes of x from `axis` on (C3).
void require_broadcast_from_axis(const TensorType& p, const TensorType& x, size_t axis,
                                 const char* name);

// ---- norms whose scale and bias have one element for each channel (axis 1 of x)

struct GroupNormAttrs {
  double epsilon = 1e-5;   // Added to the variance.
  int64_t num_groups = 1;  // Number of groups of channels; it divides the number of channels.
  TENON_ATTRS(epsilon, num_groups)
};

// Checks that x, scale and bias (inputs 0 to 2) are floating point and of one dtype (C1), that x
// has a batch and channels (C2), and that scale and bias have one element for each channel (C3).
void require_channels(TypeSpan in);

// Returns `values`, one for each channel, in the compute dtype and reshaped to broadcast to x.
Tensor broadcast_channels(const Tensor& values, const TensorType& x);

// Returns all axes of a tensor except axis 1, the channels.
Ints all_but_channels(size_t rank);

}  // namespace tenon
