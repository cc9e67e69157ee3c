// The geometry that convolutions and pooling share: a window that moves along each spatial axis of
// a tensor with the layout batch, channels, then one to three spatial axes.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon {

// How a window moves along one axis. Element `tap` of window `i` lies over element (i * stride +
// tap * dilation - pad_begin) / lhs_dilation of the input if that is a whole number inside it, and
// over a zero otherwise. Negative padding crops.
struct WindowAxis {
  int64_t size = 1;  // Elements of the window.
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t lhs_dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;

  // Number of elements that a window spans, including the gaps of its dilation.
  int64_t extent() const { return (size - 1) * dilation + 1; }
};

using Window = SmallVector<WindowAxis, 3>;

inline constexpr size_t kSpatial = 2;  // The first spatial axis.

// Limit for the attributes of a window, which keeps products of them inside int64.
inline constexpr int64_t kMaxWindowExtent = int64_t{1} << 31;

// Returns the number of spatial axes. Throws an error with label C2 unless there are one to three.
size_t require_spatial(const Dims& x);

// Check attribute lists and throw errors with label C3. The first requires one positive value for
// each spatial axis. The second accepts an empty list too. Pads are empty, or two values of at
// least `least` for each axis.
void require_positive(const Ints& values, size_t n_axes, const char* name);
void require_empty_or_positive(const Ints& values, size_t n_axes, const char* name);
void require_pads(const Ints& pads, size_t n_axes, int64_t least);

// Requires x, w and, if given, b to be floating point and of one dtype (C1), and b to have one
// element for each output channel (C6).
void require_conv_inputs(TypeSpan in, Size output_channels);

// Checks C2 to C5 of conv.cc, for the inference of all three convolutions. Returns the result's
// shape.
Dims require_conv(const Dims& x, const Dims& w, const ConvAttrs& attrs);

// The same for pooling: checks C2 to C4 of max_pool.cc.
Dims require_pool(const Dims& x, const PoolAttrs& attrs);

// Requires each window to hold an element of x, not only padding.
void require_no_empty_window(const Dims& x, const PoolAttrs& attrs, std::string_view label);

// The windows of a call that has passed these checks.
Window conv_window(const Dims& w, const ConvAttrs& attrs);
Window pool_window(const PoolAttrs& attrs);

// Convert the attributes of a convolution to those of its derivatives, and back.
ConvBackwardAttrs backward_of(const ConvAttrs& attrs, const Dims& shape);
ConvAttrs forward_of(const ConvBackwardAttrs& attrs);

// ---- calls

Tensor conv(const Tensor& x, const Tensor& w, const ConvAttrs& attrs);
// The derivatives of conv(x, w). dy is the cotangent of its result; `shape` is that of x or w.
Tensor conv_backward_input(const Tensor& dy, const Tensor& w, const Dims& shape,
                           const ConvAttrs& attrs);
Tensor conv_backward_filter(const Tensor& x, const Tensor& dy, const Dims& shape,
                            const ConvAttrs& attrs);

Tensor window_sum(const Tensor& x, const PoolAttrs& attrs);
// The transpose of window_sum: adds each element of dy to all elements in its window.
Tensor window_spread(const Tensor& dy, const Dims& shape, const PoolAttrs& attrs);

}  // namespace tenon
