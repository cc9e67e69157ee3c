#include "core/ops/reductions/norm.h"

#include <cmath>

#include "core/ops/reductions/reduction.h"
#include "core/ops/reductions/square_scale.h"

namespace tenon {

// Computes the variance as the mean of squared differences from the mean. The formula mean(x^2) -
// mean^2 would cancel.
Statistics statistics(const Tensor& x, const Ints& axes, DType from, double epsilon) {
  const Along group{.axes = axes, .keepdims = true};
  Statistics s;
  s.mean = mean(x, group);
  const Tensor centered = x - s.mean;
  s.scale = ops::square_scale(
      from, [&] { return mean(centered * centered, group); }, std::sqrt(epsilon));
  s.scaled = s.scale.of(centered);
  s.scaled_variance = mean(s.scaled * s.scaled, group);
  s.inv_scaled_std = inverse_root(s.scaled_variance, s.scale, epsilon);
  return s;
}

// Returns 1 / sqrt(v + epsilon), divided by the factor of `scale`, where v is the mean of unscaled
// squares and `mean_square` that of scaled squares.
Tensor inverse_root(const Tensor& mean_square, const ops::SquareScale& scale, double epsilon) {
  if (!scale.factor) return rsqrt(mean_square + epsilon);
  return rsqrt(mean_square + (epsilon * scale.factor) * scale.factor);
}

// Returns the cotangent of x. If an element changes by dx, the mean changes by dx / n, the variance
// by 2 (x - mean) dx / n = 2 z / inv_std * dx / n, and inv_std by -inv_std^2 * z * dx / n. Their
// contributions are added to the cotangent of x through z at constant statistics.
Tensor statistics_dx(const Tensor& z, const Tensor& inv_std, const Ints& axes, const Tensor& dz,
                     const StatisticsCotangents& d) {
  const Along group{.axes = axes, .keepdims = true};
  Tensor constant = mean(dz, group) * inv_std;
  Tensor slope = mean(dz * z, group) * inv_std;
  if (!d.mean && !d.variance && !d.inv_std) return dz * inv_std - constant - z * slope;
  const Tensor n = ops::count_as(z->type.dtype, ops::count_reduced(axes, z->shape()));
  if (d.mean) constant = constant - d.mean / n;
  if (d.inv_std) slope = slope + d.inv_std * inv_std * inv_std / n;
  if (d.variance) slope = slope - 2.0 * d.variance / inv_std / n;
  return dz * inv_std - constant - z * slope;
}

// Returns the axes from `axis` to the last.
Ints axes_from(int64_t axis, size_t rank) {
  Ints axes;
  for (size_t i = static_cast<size_t>(from_front(axis, rank)); i < rank; ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

// Checks that p has the dtype of x (C1) and broadcasts to the axes of x from `axis` on (C3).
void require_broadcast_from_axis(const TensorType& p, const TensorType& x, size_t axis,
                                 const char* name) {
  require(p.dtype == x.dtype, "C1: {} must be {} like x, but is {}", name, x.dtype, p);
  TensorType row(x.dtype, {});
  for (size_t i = axis; i < x.rank(); ++i) row.shape.push_back(x.shape[i]);
  require(p.rank() <= row.rank() && require_broadcast(row, p, "C3") == row.shape,
          "C3: {}: {} cannot be broadcast to the normalised axes: {}", name, p, row);
}

// Checks that x has a batch and channels, and that scale and bias have one element per channel.
void require_channels(TypeSpan in) {
  const TensorType& x = in[0];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  require(x.rank() >= 2, "C2: x must have a batch and channels, but is {}", x);
  constexpr const char* kNames[] = {"x", "scale", "bias"};
  for (size_t i = 1; i < 3; ++i) {
    require(in[i].dtype == x.dtype, "C1: {} must be {} like x, but is {}", kNames[i], x.dtype,
            in[i]);
    require(in[i].rank() == 1 && in[i].shape[0] == x.shape[1],
            "C3: {} must have one element for each of {} channels, but is {}", kNames[i],
            x.shape[1], in[i]);
  }
}

// Returns `values`, one for each channel, in the compute dtype and reshaped to broadcast to x.
Tensor broadcast_channels(const Tensor& values, const TensorType& x) {
  Dims shape;
  for (size_t i = 0; i < x.rank(); ++i) shape.push_back(i == 1 ? x.shape[1] : Size(1));
  return reshape(to_dtype(values, wide_dtype(x.dtype)), shape);
}

// Returns all axes of a tensor except axis 1, the channels.
Ints all_but_channels(size_t rank) {
  Ints axes{0};
  for (size_t i = 2; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

}  // namespace tenon
