// The geometry that convolutions and pooling share: a window that walks over each spatial axis of a
// tensor laid out as batch, channels, then one to three spatial axes.

#pragma once

#include "core/ops/formulas.h"

namespace tenon {

// How a window walks along one axis. Element `tap` of window `i` lies over element
// (i * stride + tap * dilation - pad_begin) / lhs_dilation of the input if that is a whole number
// inside it, and over a zero otherwise. Negative padding crops.
struct WindowAxis {
  int64_t size = 1;  // Elements of the window.
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t lhs_dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;

  // How much of the axis a window covers, holes included.
  int64_t extent() const { return (size - 1) * dilation + 1; }
};

using Window = SmallVector<WindowAxis, 3>;

inline constexpr size_t kSpatial = 2;  // The first spatial axis.

// Attributes bound what a user can ask for, so that products of them stay inside int64.
inline constexpr int64_t kMostInWindow = int64_t{1} << 31;

// The number of spatial axes if there are one to three, else an error, C2.
size_t require_spatial(const Dims& x);

// Lists with values for each of the spatial axes, else an error, C3: all positive, the same or
// none, two each of at least `least` or none.
void require_positive(const Ints& values, size_t n_axes, const char* name);
void require_empty_or_positive(const Ints& values, size_t n_axes, const char* name);
void require_pads(const Ints& pads, size_t n_axes, int64_t least);

// Fails unless x, w and, if it is there, b are floating point and of one dtype, C1, and b has one
// element for each output channel, C6.
void require_conv_inputs(TypeSpan in, Size output_channels);

// What inference of the three convolutions checks: C2 to C5 of conv.cc. Gives the shape of the
// result.
Dims require_conv(const Dims& x, const Dims& w, const ConvAttrs& attrs);

// The same for pooling: C2 to C4 of max_pool.cc.
Dims require_pool(const Dims& x, const PoolAttrs& attrs);

// Fails unless each window holds an element of x and not padding alone.
void require_no_empty_window(const Dims& x, const PoolAttrs& attrs, std::string_view label);

// The windows of a call that has passed.
Window conv_window(const Dims& w, const ConvAttrs& attrs);
Window pool_window(const PoolAttrs& attrs);

// The attributes of a convolution, as those of its derivatives, and back.
ConvBackwardAttrs backward_of(const ConvAttrs& attrs, const Dims& shape);
ConvAttrs forward_of(const ConvBackwardAttrs& attrs);

// ---- calls

Tensor conv(const Tensor& x, const Tensor& w, const ConvAttrs& attrs);
// The derivatives of conv(x, w) where dy is that of its result and `shape` that of x, or of w.
Tensor conv_backward_input(const Tensor& dy, const Tensor& w, const Dims& shape,
                           const ConvAttrs& attrs);
Tensor conv_backward_filter(const Tensor& x, const Tensor& dy, const Dims& shape,
                            const ConvAttrs& attrs);

Tensor window_sum(const Tensor& x, const PoolAttrs& attrs);
// The transpose of window_sum: adds each element of dy to all that its window holds.
Tensor window_spread(const Tensor& dy, const Dims& shape, const PoolAttrs& attrs);

}  // namespace tenon
