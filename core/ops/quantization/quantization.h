// Shared by conversions between real numbers and small integers: shapes of scales and zero points.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon::ops {

inline constexpr const char* kScaleDoc = "0-d, or one for each index along axis";
inline constexpr const char* kZeroPointDoc = "the quantized value of 0, with the shape of scale";
inline constexpr const char* kQuantizationAxisDoc =
    "The axis of scale, unless that is 0-d; a negative axis counts from the end.";

// Requires a scale that is 0-d, or has one element for each index along the axis. Throws with the
// label.
inline void require_scale_shape(const TensorType& scale, const TensorType& x, int64_t axis,
                                std::string_view label) {
  if (scale.rank() == 0) return;
  const auto at = static_cast<size_t>(require_axis(axis, x, label));
  require(scale.shape == Dims{x.shape[at]},
          "{}: scale must be 0-d, or have one element for each of {} along axis {} of x, but is {}",
          label, x.shape[at], axis, scale);
}

// Appends axes of size 1, so that the parameter broadcasts along its own axis.
inline Tensor along_axis(const Tensor& parameter, const Tensor& x, int64_t axis) {
  if (parameter->rank() == 0) return parameter;
  const auto at = static_cast<size_t>(from_front(axis, x->rank()));
  Dims shape = parameter->shape();
  for (size_t i = at + 1; i < x->rank(); ++i) shape.push_back(1);
  return reshape(parameter, shape);
}

}  // namespace tenon::ops
