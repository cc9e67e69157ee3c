// depthwise: a convolution that applies separate filters to each channel.

#include "core/ops/convolution/conv_shape.h"
#include "core/ops/definition/op_ids.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Ints strides;    // Step of the window per spatial axis; empty: 1.
  Ints pads;       // Padding before, then after each spatial axis; empty: 0.
  Ints dilations;  // Dilation of the filter per spatial axis; empty: 1.
  TENON_ATTRS(strides, pads, dilations)
};

// Returns the attributes of the equivalent conv, which has one group per channel.
ConvAttrs equivalent_conv(const Attrs& attrs, const TensorType& x) {
  require(x.rank() > kSpatial && x.shape[1] >= 1,
          "C2: x must have channels and spatial axes, but is {}", x);
  return {.strides = attrs.strides,
          .pads = attrs.pads,
          .dilations = attrs.dilations,
          .group = x.shape[1]};
}

// Constraints.
//   C1  x, w and b are floating point and of one dtype.
//   C2  x has channels and one to three spatial axes, and w has the rank of x.
//   C3  strides and dilations are empty or have one positive value for each spatial axis; pads is
//       empty or has two values for each.
//   C4  w has the same number of filters for each channel of x, and one input channel.
//   C5  w has elements, and its window fits into each padded axis.
//   C6  b has one element for each filter.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[0], &w = in[1];
  const TensorType y(x.dtype, infer_conv_shape(x.shape, w.shape, equivalent_conv(attrs, x)));
  require_conv_inputs(in, w.shape[0]);
  return {y};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const ConvAttrs conv = equivalent_conv(attrs, in[0]->type);
  return call_op(OpId::k_conv, any_attrs(conv), in);
}

Cases<Attrs> cases() {
  const CaseTensor pair = f32({1, 2, 4}, {1, 2, 3, 4, 10, 20, 30, 40});
  const CaseTensor taps = f32({2, 1, 2}, {1, 1, -1, 1});
  return {
      {.name = "example",
       .inputs = {pair, taps},
       .expect = {f32({1, 2, 3}, {3, 5, 7, 10, 10, 10})}},
      {.name = "bias",
       .inputs = {pair, taps, f32({1, 2})},
       .expect = {f32({1, 2, 3}, {4, 6, 8, 12, 12, 12})}},
      {.name = "strides",
       .attrs = {.strides = {2}},
       .inputs = {pair, taps},
       .expect = {f32({1, 2, 2}, {3, 7, 10, 10})}},
      {.name = "pads",
       .attrs = {.pads = {1, 0}},
       .inputs = {pair, taps},
       .expect = {f32({1, 2, 4}, {1, 3, 5, 7, 10, 10, 10, 10})}},
      {.name = "dilations",
       .attrs = {.dilations = {2}},
       .inputs = {pair, taps},
       .expect = {f32({1, 2, 2}, {4, 6, 20, 20})}},
      {.name = "two_filters_for_each_channel",
       .inputs = {f32({1, 2, 1}, {1, 10}), f32({4, 1, 1}, {1, 2, 3, 4})},
       .expect = {f32({1, 4, 1}, {1, 2, 30, 40})}},
      {.name = "two_axes",
       .attrs = {.strides = {2, 1}, .pads = {1, 1, 0, 1}},
       .inputs = {uniform({2, 3, 4, 3}), uniform({3, 1, 2, 3}), uniform({3})}},
      {.name = "empty_batch", .inputs = {uniform({0, 2, 4}), taps}},
      {.name = "integers", .inputs = {i32({1, 1, 1}, {1}), i32({1, 1, 1}, {1})}, .error = "C1"},
      {.name = "no_channels", .inputs = {f32({1, 0, 3}, {}), f32({0, 1, 2}, {})}, .error = "C2"},
      {.name = "no_spatial_axes", .inputs = {uniform({2, 3}), taps}, .error = "C2"},
      {.name = "stride_of_zero", .attrs = {.strides = {0}}, .inputs = {pair, taps}, .error = "C3"},
      {.name = "a_filter_too_many", .inputs = {pair, uniform({3, 1, 2})}, .error = "C4"},
      {.name = "filters_of_two_channels", .inputs = {pair, uniform({2, 2, 2})}, .error = "C4"},
      {.name = "window_is_larger", .inputs = {pair, uniform({2, 1, 5})}, .error = "C5"},
      {.name = "bias_differs", .inputs = {pair, taps, f32({1, 2, 3})}, .error = "C6"},
  };
}

}  // namespace

OpDef depthwise_def() {
  return define<Attrs>({
      .name = "depthwise",
      .summary = "A depthwise convolution: each channel is convolved with its own filters.",
      .formula = "y[n, c * m + i, p] = b[c * m + i] + "
                 "sum(x[n, c, p * stride + k * dilation - pad] * w[c * m + i, 0, k] for k)",
      .details =
          "It is conv with one group for each channel; m is the number of filters per channel.",
      .inputs = {{"x", "the input: batch, channels, then one to three spatial axes"},
                 {"w", "m filters for each channel, an axis of size 1, then spatial axes"},
                 {"b", "the bias, added to each output channel", InputKind::kOptional}},
      .outputs = {{"y", "the result: batch, output channels, then the spatial axes"}},
      .attrs_doc =
          {{"strides", "The stride of the window along each spatial axis; empty for ones."},
           {"pads", "Zero padding before each spatial axis, then after each; empty for none."},
           {"dilations", "The dilation of the filter along each spatial axis; empty for ones."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kAccumulation,
  });
}

}  // namespace tenon::ops
