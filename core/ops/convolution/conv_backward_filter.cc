// conv_backward_filter: the derivative of conv with respect to its filter.

#include "core/ops/convolution/conv_shape.h"

namespace tenon::ops {
namespace {

using Attrs = ConvBackwardAttrs;

// Constraints.
//   C1  x and dy are floating point and of one dtype.
//   C2  x has one to three spatial axes, and shape has the same number.
//   C3  strides, dilations and lhs_dilation are empty or have one positive value for each spatial
//       axis; pads is empty or has two values for each.
//   C4  group divides the output channels, and x has group times the channels of shape.
//   C5  shape has elements, and its window fits into each padded axis.
//   C6  dy has the shape of the result of conv with that filter.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[0], &dy = in[1];
  require(is_floating(x.dtype) && x.dtype == dy.dtype,
          "C1: x and dy must be floating point and of one dtype, but are {} and {}", x, dy);
  const TensorType dw = require_sizes(x.dtype, attrs.shape, "C2");
  const Dims y = infer_conv_shape(x.shape, dw.shape, forward_attrs(attrs));
  require(dy.shape == y, "C6: dy must have the shape {} of the result, but is {}", y, dy);
  return {dw};
}

// The op is linear in x and in dy. Its derivatives are conv_backward_input (for x) and conv (for
// dy), with the cotangent ddw as the filter.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor& ddw = v.cotangent(0);
  const ConvAttrs forward = forward_attrs(attrs);
  Tensors grads(2, Tensor());
  if (v.needs(0)) grads[0] = conv_backward_input(v.input(1), ddw, v.input_type(0).shape, forward);
  if (v.needs(1)) grads[1] = conv(v.input(0), ddw, forward);
  return grads;
}

Cases<Attrs> cases() {
  const CaseTensor line = f32({1, 1, 5}, {1, 2, 3, 4, 5}), two = f32({1, 1, 2}, {1, 10});
  return {
      {.name = "example",
       .attrs = {.shape = {1, 1, 2, 2}},
       .inputs = {f32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), f32({1, 1, 2, 2}, {1, 0, 0, 10})},
       .expect = {f32({1, 1, 2, 2}, {51, 62, 84, 95})}},
      {.name = "batch_is_summed",
       .attrs = {.shape = {1, 1, 1}},
       .inputs = {f32({2, 1, 2}, {1, 2, 3, 4}), f32({2, 1, 2}, {1, 1, 10, 10})},
       .expect = {f32({1, 1, 1}, {73})}},
      {.name = "strides",
       .attrs = {.shape = {1, 1, 2}, .strides = {3}},
       .inputs = {line, two},
       .expect = {f32({1, 1, 2}, {41, 52})}},
      {.name = "pads",
       .attrs = {.shape = {1, 1, 2}, .pads = {1, 0}},
       .inputs = {f32({1, 1, 2}, {1, 2}), two},
       .expect = {f32({1, 1, 2}, {10, 21})}},
      {.name = "dilations",
       .attrs = {.shape = {1, 1, 2}, .dilations = {3}},
       .inputs = {line, two},
       .expect = {f32({1, 1, 2}, {21, 54})}},
      {.name = "group",
       .attrs = {.shape = {2, 1, 1}, .group = 2},
       .inputs = {f32({1, 2, 2}, {1, 2, 3, 4}), f32({1, 2, 2}, {1, 10, 1, 10})},
       .expect = {f32({2, 1, 1}, {21, 43})}},
      {.name = "lhs_dilation",
       .attrs = {.shape = {1, 1, 2}, .lhs_dilation = {2}},
       .inputs = {f32({1, 1, 2}, {1, 2}), two},
       .expect = {f32({1, 1, 2}, {1, 20})}},
      {.name = "all_attributes",
       .attrs = {.shape = {6, 2, 3, 2},
                 .strides = {2, 1},
                 .pads = {1, 2, 0, 1},
                 .dilations = {1, 2},
                 .group = 2,
                 .lhs_dilation = {1, 2}},
       .inputs = {uniform({2, 4, 5, 4}), uniform({2, 6, 2, 8})}},
      {.name = "empty_batch_gives_zeros",
       .attrs = {.shape = {1, 1, 2}},
       .inputs = {f32({0, 1, 3}, {}), f32({0, 1, 2}, {})},
       .expect = {f32({1, 1, 2}, {0, 0})}},
      {.name = "integers",
       .attrs = {.shape = {1, 1, 1}},
       .inputs = {i32({1, 1, 1}, {1}), i32({1, 1, 1}, {1})},
       .error = "C1"},
      {.name = "shape_without_spatial_axes",
       .attrs = {.shape = {1, 1}},
       .inputs = {line, two},
       .error = "C2"},
      {.name = "stride_of_zero",
       .attrs = {.shape = {1, 1, 4}, .strides = {0}},
       .inputs = {line, two},
       .error = "C3"},
      {.name = "channels_differ",
       .attrs = {.shape = {1, 2, 4}},
       .inputs = {line, two},
       .error = "C4"},
      {.name = "window_is_larger",
       .attrs = {.shape = {1, 1, 6}},
       .inputs = {line, two},
       .error = "C5"},
      {.name = "result_differs",
       .attrs = {.shape = {1, 1, 3}},
       .inputs = {line, two},
       .error = "C6"},
  };
}

}  // namespace

OpDef conv_backward_filter_def() {
  return define<Attrs>({
      .name = "conv_backward_filter",
      .summary = "The gradient of conv with respect to its filter.",
      .formula = "dw[o, c, k] = sum(x[n, c, p * stride + k * dilation - pad] * dy[n, o, p] "
                 "for n, for p)",
      .details = "All attributes except shape are those of the call of conv.",
      .inputs = {{"x", "the input of conv"},
                 {"dy", "the gradient with respect to the result of conv"}},
      .outputs = {{"dw", "the gradient with respect to the filter of conv"}},
      .attrs_doc =
          {{"shape", "The shape of the filter of conv."},
           {"strides", "The stride of the window along each spatial axis; empty for ones."},
           {"pads", "Zero padding before each spatial axis, then after each; empty for none."},
           {"dilations", "The dilation of the filter along each spatial axis; empty for ones."},
           {"group", "The number of independent groups of channels."},
           {"lhs_dilation", "The dilation of the input along each spatial axis; empty for ones."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kInputs,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kAccumulation,
  });
}

}  // namespace tenon::ops
