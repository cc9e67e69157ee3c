// The elements of tensors on the host, and how far they are from what they should be.

#pragma once

#include <string>
#include <tenon/tensor.hpp>

namespace tenon::conformance {

struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

// Empty if dtype, shape and every element agree; else how they differ. Floating elements may differ
// by atol + rtol * |want|, and NaN equals NaN; all others are equal.
std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance);

}  // namespace tenon::conformance
