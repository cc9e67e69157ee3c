#include "core/ops/convolution/conv_shape.h"

#include "core/ops/definition/op_ids.h"

namespace tenon {
namespace {

// Returns values[i], or `otherwise` if the list is empty.
int64_t value_or(const Ints& values, size_t i, int64_t otherwise) {
  return values.empty() ? otherwise : values[i];
}

// Returns the size of an axis after lhs_dilation has inserted zeros between its elements.
Size dilated(Size size, int64_t dilation) {
  return dilation == 1 ? size : greatest((size - 1) * dilation + 1, 0);
}

// Returns the number of windows along an axis. In ceil mode, the last window may extend past the
// padded end. It must begin inside x or the padding before x; a window that begins later holds no
// element of x and is not counted.
Size n_windows(const WindowAxis& axis, Size size, bool ceil_mode) {
  const Size steps = size + axis.pad_begin + axis.pad_end - axis.extent();
  if (!ceil_mode) return steps / axis.stride + 1;
  const Size n = (steps + axis.stride - 1) / axis.stride + 1;
  if (axis.pad_end + axis.stride <= axis.extent()) return n;
  const Size n_inside = (size + axis.pad_begin + axis.stride - 1) / axis.stride;
  return least(n, greatest(n - 1, n_inside));
}

}  // namespace

void require_positive(const Ints& values, size_t n_axes, const char* name) {
  require(values.size() == n_axes, "C3: {} must have one value for each of {} spatial axes, not {}",
          name, n_axes, values.size());
  for (const int64_t value : values) {
    require(value >= 1 && value < kMaxWindowExtent, "C3: {} must be positive, but one value is {}",
            name, value);
  }
}

void require_empty_or_positive(const Ints& values, size_t n_axes, const char* name) {
  if (!values.empty()) require_positive(values, n_axes, name);
}

// Requires pads to be empty, or to have two values of at least `least` for each spatial axis.
void require_pads(const Ints& pads, size_t n_axes, int64_t least) {
  if (pads.empty()) return;
  require(pads.size() == 2 * n_axes,
          "C3: pads must have two values for each of {} spatial axes, not {}", n_axes, pads.size());
  for (const int64_t pad : pads) {
    require(pad >= least && pad < kMaxWindowExtent,
            "C3: pads must be from 0 to 2^31 (convolutions: from -2^31), but one is {}", pad);
  }
}

size_t count_spatial_axes(const Dims& x) {
  require(x.rank() >= 3 && x.rank() <= 5,
          "C2: x must have a batch, channels, and one to three spatial axes, but its shape is {}",
          x);
  return x.rank() - kSpatial;
}

// Returns the window of a convolution with a filter of shape `w`.
Window conv_window(const Dims& w, const ConvAttrs& attrs) {
  const size_t n = w.rank() - kSpatial;
  Window window;
  for (size_t i = 0; i < n; ++i) {
    window.push_back({.size = w[kSpatial + i],
                      .stride = value_or(attrs.strides, i, 1),
                      .dilation = value_or(attrs.dilations, i, 1),
                      .lhs_dilation = value_or(attrs.lhs_dilation, i, 1),
                      .pad_begin = value_or(attrs.pads, i, 0),
                      .pad_end = value_or(attrs.pads, n + i, 0)});
  }
  return window;
}

Window pool_window(const PoolAttrs& attrs) {
  const size_t n = attrs.kernel_shape.size();
  Window window;
  for (size_t i = 0; i < n; ++i) {
    window.push_back({.size = attrs.kernel_shape[i],
                      .stride = value_or(attrs.strides, i, 1),
                      .dilation = value_or(attrs.dilations, i, 1),
                      .pad_begin = value_or(attrs.pads, i, 0),
                      .pad_end = value_or(attrs.pads, n + i, 0)});
  }
  return window;
}

// Checks the dtypes of x, w and b (C1), and that b has one element for each output channel (C6).
void require_conv_inputs(TypeSpan in, Size output_channels) {
  const TensorType &x = in[0], &w = in[1];
  require(is_floating(x.dtype) && x.dtype == w.dtype,
          "C1: x and w must be floating point and of one dtype, but are {} and {}", x, w);
  if (!in.has(2)) return;
  const TensorType& b = in[2];
  require(b.dtype == x.dtype, "C1: b must be {} like x, but is {}", x.dtype, b);
  require(b.rank() == 1 && b.shape[0] == output_channels,
          "C6: b must have one element for each of {} output channels, but is {}", output_channels,
          b);
}

Dims infer_conv_shape(const Dims& x, const Dims& w, const ConvAttrs& attrs) {
  const size_t n = count_spatial_axes(x);
  require(w.rank() == x.rank(), "C2: w must have {} axes like x, but its shape is {}", x.rank(), w);
  require_empty_or_positive(attrs.strides, n, "strides");
  require_empty_or_positive(attrs.dilations, n, "dilations");
  require_empty_or_positive(attrs.lhs_dilation, n, "lhs_dilation");
  require_pads(attrs.pads, n, -kMaxWindowExtent);
  const int64_t group = attrs.group;
  require(group >= 1 && w[0] % group == 0,
          "C4: group must be positive and divide {} output channels, but is {}", w[0], group);
  require(x[1] % group == 0 && x[1] / group == w[1],
          "C4: the {} channels of x must equal {} groups times {} channels of w", x[1], group,
          w[1]);

  Dims y{x[0], w[0]};
  const Window window = conv_window(w, attrs);
  for (size_t i = 0; i < n; ++i) {
    const WindowAxis& axis = window[i];
    require(axis.size >= 1, "C5: w has no elements along spatial axis {}: {}", i, w);
    const Size room = dilated(x[kSpatial + i], axis.lhs_dilation) + axis.pad_begin + axis.pad_end;
    require(axis.extent() <= room,
            "C5: a window that covers {} elements does not fit into {} along spatial axis {}",
            axis.extent(), room, i);
    y.push_back((room - axis.extent()) / axis.stride + 1);
  }
  return y;
}

Dims infer_pool_shape(const Dims& x, const PoolAttrs& attrs) {
  const size_t n = count_spatial_axes(x);
  require_positive(attrs.kernel_shape, n, "kernel_shape");
  require_empty_or_positive(attrs.strides, n, "strides");
  require_empty_or_positive(attrs.dilations, n, "dilations");
  require_pads(attrs.pads, n, 0);

  Dims y{x[0], x[1]};
  const Window window = pool_window(attrs);
  for (size_t i = 0; i < n; ++i) {
    const WindowAxis& axis = window[i];
    const Size size = x[kSpatial + i];
    const Size room = size + axis.pad_begin + axis.pad_end;
    require(axis.extent() <= room,
            "C4: a window that covers {} elements does not fit into {} along spatial axis {}",
            axis.extent(), room, i);
    y.push_back(n_windows(axis, size, attrs.ceil_mode));
  }
  return y;
}

void require_no_empty_window(const Dims& x, const PoolAttrs& attrs, std::string_view label) {
  const Window window = pool_window(attrs);
  for (size_t i = 0; i < window.size(); ++i) {
    const WindowAxis& axis = window[i];
    const Size size = x[kSpatial + i];
    // A window that begins in the padding contains no element of x if x is shorter than the
    // distance between two of the window's elements (the dilation).
    const bool reaches = axis.pad_begin == 0 || size >= axis.dilation;
    const bool ends = axis.pad_begin < axis.extent() && axis.pad_end < axis.extent();
    require(size >= 1 && reaches && ends,
            "{}: a window of {} elements may contain only padding along spatial axis {} of {}",
            label, axis.size, i, x);
  }
}

// Converts the attributes of conv to those of conv_backward_input and conv_backward_filter.
ConvBackwardAttrs backward_attrs(const ConvAttrs& attrs, const Dims& shape) {
  return {.shape = to_sizes(shape),
          .strides = attrs.strides,
          .pads = attrs.pads,
          .dilations = attrs.dilations,
          .group = attrs.group,
          .lhs_dilation = attrs.lhs_dilation};
}

// Converts the attributes of conv_backward_input or conv_backward_filter to those of conv.
ConvAttrs forward_attrs(const ConvBackwardAttrs& attrs) {
  return {.strides = attrs.strides,
          .pads = attrs.pads,
          .dilations = attrs.dilations,
          .group = attrs.group,
          .lhs_dilation = attrs.lhs_dilation};
}

Tensor conv(const Tensor& x, const Tensor& w, const ConvAttrs& attrs) {
  return call1(OpId::k_conv, attrs, {x, w});
}

// Returns the cotangent of x in conv(x, w), where dy is the cotangent of the result and `shape` is
// the shape of x.
Tensor conv_backward_input(const Tensor& dy, const Tensor& w, const Dims& shape,
                           const ConvAttrs& attrs) {
  return call1(OpId::k_conv_backward_input, backward_attrs(attrs, shape), {dy, w});
}

// Returns the cotangent of w in conv(x, w), where dy is the cotangent of the result and `shape` is
// the shape of w.
Tensor conv_backward_filter(const Tensor& x, const Tensor& dy, const Dims& shape,
                            const ConvAttrs& attrs) {
  return call1(OpId::k_conv_backward_filter, backward_attrs(attrs, shape), {x, dy});
}

Tensor window_sum(const Tensor& x, const PoolAttrs& attrs) {
  return call1(OpId::k_window_sum, attrs, {x});
}

// Returns the padding at the end for which a convolution over `size` elements has exactly `out`
// windows. In ceil mode, it may exceed axis.pad_end, because the last window may extend past the
// padding.
int64_t spread_pad_end(const WindowAxis& axis, Size size, Size out, bool ceil_mode) {
  if (!ceil_mode) return axis.pad_end;
  const int64_t most = axis.pad_end + axis.stride - 1;
  const Size steps = size + axis.pad_begin + most - axis.extent();
  if (identical(steps / axis.stride + 1, out)) return most;
  return (out - 1) * axis.stride + axis.extent() - size - axis.pad_begin;
}

// window_sum convolves each channel with a filter of ones, so its transpose is conv_backward_input
// with that filter. The channels are merged into the batch axis, so that no groups are needed.
Tensor window_spread(const Tensor& dy, const Dims& shape, const PoolAttrs& attrs) {
  const TensorType type(dy->type.dtype, shape);
  if (count(shape) == 0) return zeros(type);
  const Window window = pool_window(attrs);
  const Size planes = shape[0] * shape[1];

  ConvAttrs as_conv{.strides = attrs.strides, .pads = {}, .dilations = attrs.dilations};
  Dims filter{1, 1}, from{planes, 1}, to{planes, 1};
  Ints pads_end;
  for (size_t i = 0; i < window.size(); ++i) {
    const WindowAxis& axis = window[i];
    const Size size = shape[kSpatial + i], out = dy->shape()[kSpatial + i];
    filter.push_back(axis.size);
    from.push_back(out);
    to.push_back(size);
    as_conv.pads.push_back(axis.pad_begin);
    pads_end.push_back(spread_pad_end(axis, size, out, attrs.ceil_mode));
  }
  for (const int64_t pad : pads_end) as_conv.pads.push_back(pad);
  const Tensor ones_filter = ones(TensorType(type.dtype, filter));
  return reshape(conv_backward_input(reshape(dy, from), ones_filter, to, as_conv), shape);
}

}  // namespace tenon
