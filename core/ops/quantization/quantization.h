// Shared by quantize_linear, dequantize_linear and fake_quantize: the shapes of scales and zero
// points.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon::ops {

inline constexpr const char* kScaleDoc = "0-d, or one for each index along axis";
inline constexpr const char* kZeroPointDoc = "the quantized value of 0, with the shape of scale";
inline constexpr const char* kQuantizationAxisDoc =
    "The axis of scale, unless that is 0-d; a negative axis counts from the end.";

// Whether quantised elements may have this dtype: an integer of at most 16 bits, or a storage dtype
// that has the value 0.
inline bool is_quantized(DType dtype) {
  if (is_storage(dtype)) return dtype != DType::kF8E8M0FNU;
  return is_integer(dtype) && size_of(dtype) <= 2;
}

// Requires `scale` to be 0-d, or to have one element for each index of x along the axis. Error
// messages begin with `label`.
inline void require_scale_shape(const TensorType& scale, const TensorType& x, int64_t axis,
                                std::string_view label) {
  if (scale.rank() == 0) return;
  const auto at = static_cast<size_t>(require_axis(axis, x, label));
  require(scale.shape == Dims{x.shape[at]},
          "{}: scale must be 0-d, or have one element for each of {} along axis {} of x, but is {}",
          label, x.shape[at], axis, scale);
}

// Appends axes of size 1 to a scale or zero point, so that it broadcasts to x along `axis`.
inline Tensor broadcast_along_axis(const Tensor& parameter, const Tensor& x, int64_t axis) {
  if (parameter->rank() == 0) return parameter;
  const auto at = static_cast<size_t>(from_front(axis, x->rank()));
  Dims shape = parameter->shape();
  for (size_t i = at + 1; i < x->rank(); ++i) shape.push_back(1);
  return reshape(parameter, shape);
}

}  // namespace tenon::ops
