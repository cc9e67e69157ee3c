// window_sum: the sum over each window along the spatial axes.

#include "core/ops/convolution/conv_shape.h"

namespace tenon::ops {
namespace {

using Attrs = PoolAttrs;

// Constraints.
//   C1  x is floating point.
//   C2  x has one to three spatial axes.
//   C3  kernel_shape has one positive value for each spatial axis; so do strides and dilations,
//       unless they are empty; pads is empty or has two values for each spatial axis, none
//       negative.
//   C4  The window fits into each padded axis.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  return {TensorType(x.dtype, infer_pool_shape(x.shape, attrs))};
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  return {window_spread(v.cotangent(0), v.input_type(0).shape, attrs)};
}

Cases<Attrs> cases() {
  const CaseTensor line = f32({1, 1, 6}, {1, 2, 3, 4, 5, 6});
  return {
      {.name = "example",
       .attrs = {.kernel_shape = {2, 2}},
       .inputs = {f32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})},
       .expect = {f32({1, 1, 2, 2}, {12, 16, 24, 28})}},
      {.name = "strides",
       .attrs = {.kernel_shape = {2}, .strides = {3}},
       .inputs = {line},
       .expect = {f32({1, 1, 2}, {3, 9})}},
      {.name = "pads",
       .attrs = {.kernel_shape = {3}, .strides = {2}, .pads = {1, 2}},
       .inputs = {line},
       .expect = {f32({1, 1, 4}, {3, 9, 15, 6})}},
      {.name = "dilations",
       .attrs = {.kernel_shape = {2}, .dilations = {4}},
       .inputs = {line},
       .expect = {f32({1, 1, 2}, {6, 8})}},
      {.name = "ceil_mode",
       .attrs = {.kernel_shape = {4}, .strides = {3}, .ceil_mode = true},
       .inputs = {line},
       .expect = {f32({1, 1, 2}, {10, 15})}},
      {.name = "window_of_padding_alone",
       .attrs = {.kernel_shape = {1}, .pads = {1, 0}},
       .inputs = {f32({1, 1, 1}, {5})},
       .expect = {f32({1, 1, 2}, {0, 5})}},
      {.name = "three_axes",
       .attrs = {.kernel_shape = {2, 1, 3},
                 .strides = {1, 2, 2},
                 .pads = {1, 0, 0, 0, 0, 1},
                 .dilations = {2, 1, 1},
                 .ceil_mode = true},
       .inputs = {uniform({2, 3, 4, 3, 4})}},
      {.name = "empty_batch", .attrs = {.kernel_shape = {2}}, .inputs = {uniform({0, 2, 4})}},
      {.name = "integers",
       .attrs = {.kernel_shape = {1}},
       .inputs = {i32({1, 1, 1}, {1})},
       .error = "C1"},
      {.name = "too_many_axes",
       .attrs = {.kernel_shape = {1, 1, 1, 1}},
       .inputs = {uniform({1, 1, 1, 1, 1, 1})},
       .error = "C2"},
      {.name = "size_of_zero", .attrs = {.kernel_shape = {0}}, .inputs = {line}, .error = "C3"},
      {.name = "a_stride_too_few",
       .attrs = {.kernel_shape = {2, 2}, .strides = {1}},
       .inputs = {uniform({1, 1, 3, 3})},
       .error = "C3"},
      {.name = "window_is_larger",
       .attrs = {.kernel_shape = {4}, .dilations = {2}},
       .inputs = {line},
       .error = "C4"},
  };
}

}  // namespace

OpDef window_sum_def() {
  return define<Attrs>({
      .name = "window_sum",
      .summary = "The sum over each sliding window along the spatial axes.",
      .formula = "y[n, c, p] = sum(x[n, c, p * stride + k * dilation - pad] for k)",
      .details = "Padding counts as zeros.",
      .inputs = {{"x", "batch, channels, then one to three spatial axes"}},
      .outputs = {{"y", "the sum over each window"}},
      .attrs_doc =
          {{"kernel_shape", "The window's size along each spatial axis."},
           {"strides", "The window's step along each spatial axis; empty for ones."},
           {"pads",
            "The number of zeros before each spatial axis, then after each; empty for none."},
           {"dilations",
            "The step between elements of the window along each spatial axis; empty for ones."},
           {"ceil_mode", "Whether windows that extend past the padded end are included."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .numeric = Numeric::kAccumulation,
  });
}

}  // namespace tenon::ops
