#include "core/ops/norm.h"

#include "core/ops/reduction.h"

namespace tenon {

// The variance is the mean of squared distances, not the difference of two large numbers.
Statistics statistics(const Tensor& x, const Ints& axes, double epsilon) {
  const Along group{.axes = axes, .keepdims = true};
  Statistics s;
  s.mean = mean(x, group);
  s.centered = x - s.mean;
  s.variance = mean(s.centered * s.centered, group);
  s.inv_std = rsqrt(s.variance + epsilon);
  return s;
}

// The mean moves by dx / n. inv_std moves by -inv_std^2 * z * dx / n. Both add to what reaches x
// through z while they are held.
Tensor statistics_dx(const Tensor& z, const Tensor& inv_std, const Ints& axes, const Tensor& dz,
                     const Tensor& dmean, const Tensor& dinv_std) {
  const Along group{.axes = axes, .keepdims = true};
  Tensor constant = mean(dz, group) * inv_std;
  Tensor slope = mean(dz * z, group) * inv_std;
  if (!dmean && !dinv_std) return dz * inv_std - constant - z * slope;
  const Tensor n = ops::count_as(z->type.dtype, ops::count_reduced(axes, z->shape()));
  if (dmean) constant = constant - dmean / n;
  if (dinv_std) slope = slope + dinv_std * (inv_std * inv_std) / n;
  return dz * inv_std - constant - z * slope;
}

Ints axes_from(int64_t axis, size_t rank) {
  Ints axes;
  for (size_t i = static_cast<size_t>(from_front(axis, rank)); i < rank; ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

void require_behind(const TensorType& p, const TensorType& x, size_t axis, const char* name) {
  require(p.dtype == x.dtype, "C1: {} must be {} like x, but is {}", name, x.dtype, p);
  TensorType row(x.dtype, {});
  for (size_t i = axis; i < x.rank(); ++i) row.shape.push_back(x.shape[i]);
  require(p.rank() <= row.rank() && require_broadcast(row, p, "C3") == row.shape,
          "C3: {}: {} cannot be broadcast to what is normalised: {}", name, p, row);
}

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

Tensor by_channel(const Tensor& values, const TensorType& x) {
  Dims shape;
  for (size_t i = 0; i < x.rank(); ++i) shape.push_back(i == 1 ? x.shape[1] : Size(1));
  return reshape(to_dtype(values, wide_dtype(x.dtype)), shape);
}

Ints all_but_channels(size_t rank) {
  Ints axes{0};
  for (size_t i = 2; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

}  // namespace tenon
