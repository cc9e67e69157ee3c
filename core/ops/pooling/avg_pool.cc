// avg_pool: the mean of the elements in each window.

#include "core/ops/convolution/conv_shape.h"

namespace tenon::ops {
namespace {

using Attrs = AvgPoolAttrs;

// Returns the attributes of a pooling op with the same windows.
PoolAttrs pool_attrs(const Attrs& attrs) {
  return {.kernel_shape = attrs.kernel_shape,
          .strides = attrs.strides,
          .pads = attrs.pads,
          .dilations = attrs.dilations,
          .ceil_mode = attrs.ceil_mode};
}

// Constraints.
//   C1  x is floating point.
//   C2  x has one to three spatial axes.
//   C3  kernel_shape has one positive value for each spatial axis; so do strides and dilations,
//       unless they are empty; pads is empty or has two values for each, none negative.
//   C4  The window fits into each padded axis.
//   C5  Each window contains an element of x.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  const Dims y = infer_pool_shape(x.shape, pool_attrs(attrs));
  require_no_empty_window(x.shape, pool_attrs(attrs), "C5");
  return {TensorType(x.dtype, y)};
}

// Returns the number of elements that each window's mean is taken over. It is a constant if all
// windows count the same elements. Otherwise (padding excluded, or ceil mode), it is the window sum
// of a plane of ones.
Tensor divisor(const Attrs& attrs, const TensorType& x, const Dims& y) {
  const bool padded = !(attrs.pads == Ints(attrs.pads.size(), 0));
  if (!attrs.ceil_mode && (attrs.count_include_pad || !padded)) {
    int64_t n = 1;
    for (const int64_t size : attrs.kernel_shape) n *= size;
    return number(static_cast<double>(n));
  }
  const size_t n_axes = attrs.kernel_shape.size();
  TensorType plane(x.dtype, {1, 1});
  PoolAttrs counted = pool_attrs(attrs);
  SliceAttrs kept;
  for (size_t i = 0; i < n_axes; ++i) {
    Size size = x.shape[kSpatial + i];
    if (attrs.count_include_pad && padded) size += attrs.pads[i] + attrs.pads[n_axes + i];
    plane.shape.push_back(size);
    kept.starts.push_back(0);
    kept.ends.push_back(y[kSpatial + i]);
    kept.axes.push_back(static_cast<int64_t>(kSpatial + i));
  }
  if (attrs.count_include_pad) counted.pads.clear();
  // If the plane includes padding, it may hold one more window along an axis than y has elements.
  // Slicing removes the sum of that window.
  return slice(window_sum(ones(plane), counted), kept);
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor sums = window_sum(in[0], pool_attrs(attrs));
  return {sums / divisor(attrs, in[0]->type, sums->shape())};
}

// The op is linear in x, so the derivative needs only types, and no values.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& x = v.input_type(0);
  const Tensor& dy = v.cotangent(0);
  return {window_spread(dy / divisor(attrs, x, dy->shape()), x.shape, pool_attrs(attrs))};
}

Cases<Attrs> cases() {
  const CaseTensor line = f32({1, 1, 6}, {1, 2, 3, 4, 5, 6});
  return {
      {.name = "example",
       .attrs = {.kernel_shape = {2, 2}},
       .inputs = {f32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})},
       .expect = {f32({1, 1, 2, 2}, {3, 4, 6, 7})}},
      {.name = "strides",
       .attrs = {.kernel_shape = {2}, .strides = {3}},
       .inputs = {line},
       .expect = {f32({1, 1, 2}, {1.5, 4.5})}},
      {.name = "padding_does_not_count",
       .attrs = {.kernel_shape = {3}, .strides = {2}, .pads = {1, 2}},
       .inputs = {line},
       .expect = {f32({1, 1, 4}, {1.5, 3, 5, 6})}},
      {.name = "padding_counts",
       .attrs = {.kernel_shape = {3}, .strides = {2}, .pads = {1, 2}, .count_include_pad = true},
       .inputs = {line},
       .expect = {f32({1, 1, 4}, {1, 3, 5, 2})}},
      {.name = "dilations",
       .attrs = {.kernel_shape = {2}, .dilations = {4}},
       .inputs = {line},
       .expect = {f32({1, 1, 2}, {3, 4})}},
      {.name = "ceil_mode",
       .attrs = {.kernel_shape = {4}, .strides = {3}, .ceil_mode = true},
       .inputs = {line},
       .expect = {f32({1, 1, 2}, {2.5, 5})}},
      {.name = "beyond_the_padding_never_counts",
       .attrs = {.kernel_shape = {4},
                 .strides = {3},
                 .pads = {0, 1},
                 .ceil_mode = true,
                 .count_include_pad = true},
       .inputs = {f32({1, 1, 5}, {1, 2, 3, 4, 6})},
       .expect = {f32({1, 1, 2}, {2.5, 10.0 / 3})}},
      {.name = "padding_at_both_ends_counts_in_ceil_mode",
       .attrs = {.kernel_shape = {3},
                 .strides = {2},
                 .pads = {1, 1},
                 .ceil_mode = true,
                 .count_include_pad = true},
       .inputs = {f32({1, 1, 4}, {1, 2, 3, 4})},
       .expect = {f32({1, 1, 3}, {1, 3, 2})}},
      {.name = "ceil_mode_drops_a_window_in_padding_that_counts",
       .attrs = {.kernel_shape = {2},
                 .strides = {2},
                 .pads = {0, 1},
                 .ceil_mode = true,
                 .count_include_pad = true},
       .inputs = {f32({1, 1, 4}, {1, 2, 3, 4})},
       .expect = {f32({1, 1, 2}, {1.5, 3.5})}},
      {.name = "two_axes",
       .attrs =
           {.kernel_shape = {3, 2}, .strides = {2, 1}, .pads = {1, 0, 1, 1}, .ceil_mode = true},
       .inputs = {uniform({2, 3, 6, 4})}},
      {.name = "empty_batch", .attrs = {.kernel_shape = {2}}, .inputs = {uniform({0, 2, 4})}},
      {.name = "integers",
       .attrs = {.kernel_shape = {1}},
       .inputs = {i32({1, 1, 1}, {1})},
       .error = "C1"},
      {.name = "no_spatial_axes",
       .attrs = {.kernel_shape = {1}},
       .inputs = {uniform({1, 1})},
       .error = "C2"},
      {.name = "no_kernel_shape", .inputs = {line}, .error = "C3"},
      {.name = "window_is_larger", .attrs = {.kernel_shape = {7}}, .inputs = {line}, .error = "C4"},
      {.name = "window_of_padding_alone",
       .attrs = {.kernel_shape = {1}, .pads = {1, 0}},
       .inputs = {line},
       .error = "C5"},
  };
}

}  // namespace

OpDef avg_pool_def() {
  return define<Attrs>({
      .name = "avg_pool",
      .summary = "The mean of each window.",
      .formula = "y[n, c, p] = mean(x[n, c, p * stride + k * dilation - pad] for k)",
      .details =
          "Elements beyond the padding, which windows can cover with ceil_mode, are never counted.",
      .inputs = {{"x", "the input: batch, channels, then one to three spatial axes"}},
      .outputs = {{"y", "the mean of each window"}},
      .attrs_doc = {{"kernel_shape", "The size of the window along each spatial axis."},
                    {"strides",
                     "The stride of the window along each spatial axis; empty for ones."},
                    {"pads",
                     "Zero padding before each spatial axis, then after each; empty for none."},
                    {"dilations", "The dilation of the window along each axis; empty for ones."},
                    {"ceil_mode", "Whether to include windows that extend past the end."},
                    {"count_include_pad", "Whether padding is counted as elements."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kAccumulation,
      .onnx = "AveragePool",
  });
}

}  // namespace tenon::ops
