// Helpers for adapters that sample images.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon::onnx::adapters {

// Returns the sizes of the spatial axes, which follow batch and channels. Throws if one of them is
// 0.
Ints spatial_sizes(const Tensor& x);

// Reshapes x to [batch, channels, elements].
Tensor flatten_image(const Tensor& x);

// Clamps the elements of p to the range from `low` to `high`.
Tensor clamp_elements(const Tensor& p, double low, double high);

}  // namespace tenon::onnx::adapters
