#include "core/ops/norm.h"

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
  const double n =
      static_cast<double>(count(z->shape())) / static_cast<double>(count(inv_std->shape()));
  Tensor constant = mean(dz, group) * inv_std;
  Tensor slope = mean(dz * z, group) * inv_std;
  if (dmean) constant = constant - dmean / n;
  if (dinv_std) slope = slope + dinv_std * (inv_std * inv_std) / n;
  return dz * inv_std - constant - z * slope;
}

}  // namespace tenon
