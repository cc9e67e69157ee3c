// conv_backward_input: the derivative of conv with respect to its input. Called alone, it is a
// transposed convolution.

#include "core/ops/convolution/conv_shape.h"

namespace tenon::ops {
namespace {

using Attrs = ConvBackwardAttrs;

// Constraints.
//   C1  dy and w are floating point and of one dtype.
//   C2  shape has one to three spatial axes, and w has the same number.
//   C3  strides, dilations and lhs_dilation are empty or have one positive value for each spatial
//       axis; pads is empty or has two values for each.
//   C4  group divides the output channels, and shape has group times the channels of w.
//   C5  w has elements, and its window fits into each padded axis.
//   C6  dy has the shape of the result of conv for that input.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &dy = in[0], &w = in[1];
  require(is_floating(dy.dtype) && dy.dtype == w.dtype,
          "C1: dy and w must be floating point and of one dtype, but are {} and {}", dy, w);
  const TensorType dx = require_sizes(dy.dtype, attrs.shape, "C2");
  const Dims y = infer_conv_shape(dx.shape, w.shape, forward_attrs(attrs));
  require(dy.shape == y, "C6: dy must have the shape {} of the result, but is {}", y, dy);
  return {dx};
}

// Swaps the input and output channels of each group, and reverses the spatial axes. Element w[g *
// outputs + o, c, k] becomes w'[g * inputs + c, o, -k] for group g.
Tensor transpose_filter(const Tensor& w, int64_t group) {
  const Dims& shape = w->shape();
  const size_t n = shape.rank() - kSpatial;
  Dims split{group, shape[0] / group, shape[1]}, merged{group * shape[1], shape[0] / group};
  Ints perm{0, 2, 1}, spatial;
  for (size_t i = 0; i < n; ++i) {
    split.push_back(shape[kSpatial + i]);
    merged.push_back(shape[kSpatial + i]);
    perm.push_back(static_cast<int64_t>(3 + i));
    spatial.push_back(static_cast<int64_t>(kSpatial + i));
  }
  if (group == 1) {
    perm.clear();
    perm.push_back(1);
    perm.push_back(0);
    for (const int64_t axis : spatial) perm.push_back(axis);
    return flip(transpose(w, perm), spatial);
  }
  return flip(reshape(transpose(reshape(w, split), perm), merged), spatial);
}

// The derivative is a convolution of dy, dilated by the strides, with the filter from
// transpose_filter(). The padding is chosen so that the first window ends at the first element of
// the input, and the last window begins at its last element.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor &dy = in[0], &w = in[1];
  const Dims shape = to_dims(attrs.shape);
  if (count(shape) == 0) return {zeros(TensorType(dy->type.dtype, shape))};

  ConvAttrs back{.group = attrs.group};
  Ints pads_end;
  const Window window = conv_window(w->shape(), forward_attrs(attrs));
  for (size_t i = 0; i < window.size(); ++i) {
    const WindowAxis& axis = window[i];
    const int64_t last_window = (dy->shape()[kSpatial + i] - 1) * axis.stride;
    const int64_t last_element = (shape[kSpatial + i] - 1) * axis.lhs_dilation;
    back.strides.push_back(axis.lhs_dilation);
    back.dilations.push_back(axis.dilation);
    back.lhs_dilation.push_back(axis.stride);
    back.pads.push_back(axis.extent() - 1 - axis.pad_begin);
    pads_end.push_back(last_element + axis.pad_begin - last_window);
  }
  for (const int64_t pad : pads_end) back.pads.push_back(pad);
  return {conv(dy, transpose_filter(w, attrs.group), back)};
}

// The op is linear in dy and in w. Its derivatives are conv (for dy) and conv_backward_filter (for
// w).
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor& ddx = v.cotangent(0);
  const ConvAttrs forward = forward_attrs(attrs);
  Tensors grads(2, Tensor());
  if (v.needs(0)) grads[0] = conv(ddx, v.input(1), forward);
  if (v.needs(1)) grads[1] = conv_backward_filter(ddx, v.input(0), v.input_type(1).shape, forward);
  return grads;
}

Cases<Attrs> cases() {
  const CaseTensor taps = f32({1, 1, 3}, {1, 2, 3});
  return {
      {.name = "example",
       .attrs = {.shape = {1, 1, 3, 3}},
       .inputs = {f32({1, 1, 2, 2}, {1, 2, 3, 4}), f32({1, 1, 2, 2}, {1, 0, 0, 10})},
       .expect = {f32({1, 1, 3, 3}, {1, 2, 0, 3, 14, 20, 0, 30, 40})}},
      {.name = "strides",
       .attrs = {.shape = {1, 1, 6}, .strides = {2}},
       .inputs = {f32({1, 1, 2}, {1, 10}), taps},
       .expect = {f32({1, 1, 6}, {1, 2, 13, 20, 30, 0})}},
      {.name = "pads",
       .attrs = {.shape = {1, 1, 3}, .pads = {1, 1}},
       .inputs = {f32({1, 1, 3}, {1, 10, 100}), taps},
       .expect = {f32({1, 1, 3}, {12, 123, 230})}},
      {.name = "more_padding_than_filter",
       .attrs = {.shape = {1, 1, 1}, .pads = {3, 3}},
       .inputs = {f32({1, 1, 5}, {1, 10, 100, 1000, 10000}), taps},
       .expect = {f32({1, 1, 1}, {1230})}},
      {.name = "dilations",
       .attrs = {.shape = {1, 1, 6}, .dilations = {2}},
       .inputs = {f32({1, 1, 2}, {1, 10}), taps},
       .expect = {f32({1, 1, 6}, {1, 10, 2, 20, 3, 30})}},
      {.name = "group",
       .attrs = {.shape = {1, 2, 2}, .group = 2},
       .inputs = {f32({1, 2, 2}, {1, 2, 3, 4}), f32({2, 1, 1}, {10, 100})},
       .expect = {f32({1, 2, 2}, {10, 20, 300, 400})}},
      {.name = "lhs_dilation",
       .attrs = {.shape = {1, 1, 2}, .pads = {1, 1}, .lhs_dilation = {2}},
       .inputs = {f32({1, 1, 3}, {1, 10, 100}), taps},
       .expect = {f32({1, 1, 2}, {12, 230})}},
      {.name = "all_attributes",
       .attrs = {.shape = {2, 4, 5, 4},
                 .strides = {2, 1},
                 .pads = {1, 2, 0, 1},
                 .dilations = {1, 2},
                 .group = 2,
                 .lhs_dilation = {1, 2}},
       .inputs = {uniform({2, 6, 2, 8}), uniform({6, 2, 3, 2})}},
      {.name = "empty_batch",
       .attrs = {.shape = {0, 2, 4}},
       .inputs = {uniform({0, 3, 3}), uniform({3, 2, 2})}},
      {.name = "integers",
       .attrs = {.shape = {1, 1, 1}},
       .inputs = {i32({1, 1, 1}, {1}), i32({1, 1, 1}, {1})},
       .error = "C1"},
      {.name = "negative_size",
       .attrs = {.shape = {1, 1, -1}},
       .inputs = {uniform({1, 1, 1}), taps},
       .error = "C2"},
      {.name = "shape_without_spatial_axes",
       .attrs = {.shape = {1, 1}},
       .inputs = {uniform({1, 1, 1}), taps},
       .error = "C2"},
      {.name = "stride_of_zero",
       .attrs = {.shape = {1, 1, 3}, .strides = {0}},
       .inputs = {uniform({1, 1, 1}), taps},
       .error = "C3"},
      {.name = "channels_differ",
       .attrs = {.shape = {1, 2, 3}},
       .inputs = {uniform({1, 1, 1}), taps},
       .error = "C4"},
      {.name = "window_is_larger",
       .attrs = {.shape = {1, 1, 2}},
       .inputs = {uniform({1, 1, 1}), taps},
       .error = "C5"},
      {.name = "result_differs",
       .attrs = {.shape = {1, 1, 4}},
       .inputs = {uniform({1, 1, 3}), taps},
       .error = "C6"},
  };
}

}  // namespace

OpDef conv_backward_input_def() {
  return define<Attrs>({
      .name = "conv_backward_input",
      .summary = "The gradient of conv with respect to its input: a transposed convolution.",
      .formula = "dx[n, c, p * stride + k * dilation - pad] += dy[n, o, p] * w[o, c, k]",
      .details = "All attributes except shape are those of the call of conv.",
      .inputs = {{"dy", "the gradient with respect to the result of conv"},
                 {"w", "the filter of conv"}},
      .outputs = {{"dx", "the gradient with respect to the input of conv"}},
      .attrs_doc =
          {{"shape", "The shape of the input of conv."},
           {"strides", "The stride of the window along each spatial axis; empty for ones."},
           {"pads", "Zero padding before each spatial axis, then after each; empty for none."},
           {"dilations", "The dilation of the filter along each spatial axis; empty for ones."},
           {"group", "The number of independent groups of channels."},
           {"lhs_dilation", "The dilation of the input along each spatial axis; empty for ones."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kInputs,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kAccumulation,
  });
}

}  // namespace tenon::ops
