// conv: convolution over one to three spatial axes. As usual in neural networks, the filter is not
// reversed (cross-correlation).

#include "core/ops/convolution/conv_shape.h"

namespace tenon::ops {
namespace {

using Attrs = ConvAttrs;

// Constraints.
//   C1  x, w and b are floating point and of one dtype.
//   C2  x has one to three spatial axes, and w has the same number.
//   C3  strides, dilations and lhs_dilation are empty or have one positive value for each spatial
//       axis; pads is empty or has two values for each.
//   C4  group divides the output channels, and x has group times the channels of w.
//   C5  w has elements, and its window fits into each padded axis.
//   C6  b has one element for each output channel.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[0], &w = in[1];
  const TensorType y(x.dtype, infer_conv_shape(x.shape, w.shape, attrs));
  require_conv_inputs(in, w.shape[0]);
  return {y};
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor& dy = v.cotangent(0);
  Tensors grads(v.n_inputs(), Tensor());
  if (v.needs(0)) {
    grads[0] = conv_backward_input(dy, v.input(1), v.input_type(0).shape, attrs);
  }
  if (v.needs(1)) {
    grads[1] = conv_backward_filter(v.input(0), dy, v.input_type(1).shape, attrs);
  }
  if (v.n_inputs() > 2 && v.needs(2)) {
    Ints axes{0};
    for (size_t i = kSpatial; i < dy->rank(); ++i) axes.push_back(static_cast<int64_t>(i));
    grads[2] = sum(dy, {.axes = axes});
  }
  return grads;
}

Cases<Attrs> cases() {
  const CaseTensor line = f32({1, 1, 5}, {1, 2, 3, 4, 5}), taps = f32({1, 1, 3}, {1, 0, -1});
  return {
      {.name = "example",
       .inputs = {f32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), f32({1, 1, 2, 2}, {1, 0, 0, 1})},
       .expect = {f32({1, 1, 2, 2}, {6, 8, 12, 14})}},
      {.name = "bias",
       .inputs = {line, f32({2, 1, 3}, {1, 0, -1, 1, 1, 1}), f32({10, 20})},
       .expect = {f32({1, 2, 3}, {8, 8, 8, 26, 29, 32})}},
      {.name = "strides",
       .attrs = {.strides = {2}},
       .inputs = {line, taps},
       .expect = {f32({1, 1, 2}, {-2, -2})}},
      {.name = "pads",
       .attrs = {.pads = {1, 2}},
       .inputs = {line, taps},
       .expect = {f32({1, 1, 6}, {-2, -2, -2, -2, 4, 5})}},
      {.name = "negative_pads_crop",
       .attrs = {.pads = {-1, 0}},
       .inputs = {line, taps},
       .expect = {f32({1, 1, 2}, {-2, -2})}},
      {.name = "dilations",
       .attrs = {.dilations = {2}},
       .inputs = {line, taps},
       .expect = {f32({1, 1, 1}, {-4})}},
      {.name = "group",
       .attrs = {.group = 2},
       .inputs = {f32({1, 2, 2}, {1, 2, 3, 4}), f32({2, 1, 1}, {10, 100})},
       .expect = {f32({1, 2, 2}, {10, 20, 300, 400})}},
      {.name = "lhs_dilation",
       .attrs = {.pads = {1, 1}, .lhs_dilation = {2}},
       .inputs = {f32({1, 1, 2}, {1, 2}), f32({1, 1, 3}, {1, 2, 3})},
       .expect = {f32({1, 1, 3}, {2, 7, 4})}},
      {.name = "stride_leaves_a_rest",
       .attrs = {.strides = {3}},
       .inputs = {uniform({2, 2, 9}), uniform({3, 2, 2})}},
      {.name = "all_attributes",
       .attrs = {.strides = {2, 1},
                 .pads = {1, 2, 0, 1},
                 .dilations = {1, 2},
                 .group = 2,
                 .lhs_dilation = {1, 2}},
       .inputs = {uniform({2, 4, 5, 4}), uniform({6, 2, 3, 2}), uniform({6})}},
      {.name = "three_axes",
       .attrs = {.pads = {1, 0, 1, 1, 0, 1}},
       .inputs = {uniform({1, 2, 3, 3, 2}), uniform({2, 2, 2, 2, 3})}},
      {.name = "channels_by_themselves",
       .attrs = {.group = 3},
       .inputs = {uniform({2, 3, 4, 4}), uniform({3, 1, 3, 3}), uniform({3})}},
      {.name = "empty_batch",
       .inputs = {uniform({0, 2, 4, 4}), uniform({3, 2, 3, 3}), uniform({3})}},
      {.name = "no_channels",
       .inputs = {f32({1, 0, 3}, {}), f32({2, 0, 2}, {}), f32({1, 2})},
       .expect = {f32({1, 2, 2}, {1, 1, 2, 2})}},
      {.name = "integers", .inputs = {i32({1, 1, 1}, {1}), i32({1, 1, 1}, {1})}, .error = "C1"},
      {.name = "no_spatial_axes", .inputs = {uniform({2, 3}), uniform({2, 3})}, .error = "C2"},
      {.name = "ranks_differ",
       .inputs = {uniform({1, 1, 3, 3}), uniform({1, 1, 3})},
       .error = "C2"},
      {.name = "a_stride_too_many",
       .attrs = {.strides = {1, 1}},
       .inputs = {line, taps},
       .error = "C3"},
      {.name = "stride_of_zero", .attrs = {.strides = {0}}, .inputs = {line, taps}, .error = "C3"},
      {.name = "a_pad_too_few", .attrs = {.pads = {1}}, .inputs = {line, taps}, .error = "C3"},
      {.name = "channels_differ", .inputs = {uniform({1, 2, 5}), taps}, .error = "C4"},
      {.name = "group_does_not_divide",
       .attrs = {.group = 2},
       .inputs = {uniform({1, 2, 5}), uniform({3, 1, 3})},
       .error = "C4"},
      {.name = "window_is_larger", .inputs = {uniform({1, 1, 2}), taps}, .error = "C5"},
      {.name = "filter_without_elements", .inputs = {line, f32({1, 1, 0}, {})}, .error = "C5"},
      {.name = "bias_differs", .inputs = {line, taps, f32({1, 2})}, .error = "C6"},
  };
}

}  // namespace

OpDef conv_def() {
  return define<Attrs>({
      .name = "conv",
      .summary = "Convolution (cross-correlation) over one to three spatial axes.",
      .formula = "y[n, o, p] = b[o] + sum(x[n, c, p * stride + k * dilation - pad] * w[o, c, k] "
                 "for c in the group of o, for k)",
      .details = "The filter is not flipped. Padding is with zeros; negative padding crops. "
                 "lhs_dilation inserts lhs_dilation - 1 zeros between adjacent elements of x.",
      .inputs = {{"x", "the input: batch, channels, then one to three spatial axes"},
                 {"w", "the filter: output channels, channels of one group, then spatial axes"},
                 {"b", "the bias, added to each output channel", InputKind::kOptional}},
      .outputs = {{"y", "the result: batch, output channels, then the spatial axes"}},
      .attrs_doc =
          {{"strides", "The stride of the window along each spatial axis; empty for ones."},
           {"pads", "Zero padding before each spatial axis, then after each; empty for none."},
           {"dilations", "The dilation of the filter along each spatial axis; empty for ones."},
           {"group", "The number of independent groups of channels."},
           {"lhs_dilation", "The dilation of the input along each spatial axis; empty for ones."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kSome,
      .saved_inputs = 0b011,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kAccumulation,
      .onnx = "Conv",
  });
}

}  // namespace tenon::ops
