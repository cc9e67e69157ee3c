// What normalisations share: the mean and spread of groups of elements, and their derivative.

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

}  // namespace tenon
