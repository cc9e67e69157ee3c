// Compares tensors element by element on the host.

#pragma once

#include <string>
#include <tenon/tensor.hpp>

namespace tenon::conformance {

struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

// Describes how two tensors differ; empty if dtype, shape and all elements agree. Floating elements
// may differ by atol + rtol * |want|, and NaN equals NaN. Other elements must be equal.
std::string describe_difference(const Tensor& got, const Tensor& want, Tolerance tolerance);

}  // namespace tenon::conformance
