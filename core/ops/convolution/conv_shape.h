// The window geometry that convolutions and pooling share. A window moves along each spatial axis
// of a tensor with the layout [batch, channels, one to three spatial axes].

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon {

// The window along one axis. Element `tap` of window `i` reads element (i * stride + tap * dilation
// - pad_begin) / lhs_dilation of the input. If that is not an integer, or is outside the input, it
// reads zero. Negative padding crops the input.
struct WindowAxis {
  int64_t size = 1;  // Number of elements in the window.
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t lhs_dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;

  // Distance from the window's first to its last element, plus 1: includes the gaps of the
  // dilation.
  int64_t extent() const { return (size - 1) * dilation + 1; }
};

using Window = SmallVector<WindowAxis, 3>;

inline constexpr size_t kSpatial = 2;  // Index of the first spatial axis.

// Upper bound for each attribute of a window, so that products of two attributes fit int64.
inline constexpr int64_t kMaxWindowExtent = int64_t{1} << 31;

// Returns the number of spatial axes. Throws an error with label C2 unless there are one to three.
size_t count_spatial_axes(const Dims& x);

// Requires one positive value for each spatial axis. Errors have the label C3.
void require_positive(const Ints& values, size_t n_axes, const char* name);
// As require_positive(), but also accepts an empty list.
void require_empty_or_positive(const Ints& values, size_t n_axes, const char* name);
// Requires an empty list, or two values of at least `least` for each spatial axis. Errors have the
// label C3.
void require_pads(const Ints& pads, size_t n_axes, int64_t least);

// Requires x, w and, if given, b to be floating point and of one dtype (C1), and b to have one
// element for each output channel (C6).
void require_conv_inputs(TypeSpan in, Size output_channels);

// Returns the shape of the result of conv. Checks constraints C2 to C5 of conv.cc. The three
// convolution ops call it from `infer`.
Dims infer_conv_shape(const Dims& x, const Dims& w, const ConvAttrs& attrs);

// Returns the shape of the result of a pooling op. Checks constraints C2 to C4 of max_pool.cc.
Dims infer_pool_shape(const Dims& x, const PoolAttrs& attrs);

// Requires every window to contain at least one element of x, so that none consists only of
// padding.
void require_no_empty_window(const Dims& x, const PoolAttrs& attrs, std::string_view label);

// Returns the window of a convolution with a filter of shape `w`. infer_conv_shape() must have
// accepted the attributes.
Window conv_window(const Dims& w, const ConvAttrs& attrs);
// Returns the window of a pooling op. infer_pool_shape() must have accepted the attributes.
Window pool_window(const PoolAttrs& attrs);

// Converts the attributes of conv to those of conv_backward_input and conv_backward_filter. `shape`
// is the shape of their result.
ConvBackwardAttrs backward_attrs(const ConvAttrs& attrs, const Dims& shape);
// Converts the attributes of conv_backward_input or conv_backward_filter to those of conv.
ConvAttrs forward_attrs(const ConvBackwardAttrs& attrs);

// ---- calls

Tensor conv(const Tensor& x, const Tensor& w, const ConvAttrs& attrs);
// The derivatives of conv(x, w). dy is the cotangent of the result. `shape` is the shape of the
// derivative: that of x or that of w.
Tensor conv_backward_input(const Tensor& dy, const Tensor& w, const Dims& shape,
                           const ConvAttrs& attrs);
Tensor conv_backward_filter(const Tensor& x, const Tensor& dy, const Dims& shape,
                            const ConvAttrs& attrs);

// Sums the elements of each window.
Tensor window_sum(const Tensor& x, const PoolAttrs& attrs);
// The transpose of window_sum: adds each element of dy to all elements of its window.
Tensor window_spread(const Tensor& dy, const Dims& shape, const PoolAttrs& attrs);

}  // namespace tenon
