// max_pool: the largest element of each window, and the index of that element.

#include <cmath>

#include "core/ops/convolution/conv_shape.h"
#include "core/ops/definition/op_ids.h"

namespace tenon::ops {
namespace {

using Attrs = PoolAttrs;

// Constraints.
//   C1  x is numeric.
//   C2  x has one to three spatial axes.
//   C3  kernel_shape has one positive value for each spatial axis; strides and dilations are empty
//       or have one positive value for each as well; pads is empty or has two non-negative values
//       for each.
//   C4  The window fits into each padded axis.
//   C5  Each window holds at least one element of x.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_numeric(x.dtype), "C1: x must be numeric, but is {}", x.dtype);
  const Dims y = infer_pool_shape(x.shape, attrs);
  require_no_empty_window(x.shape, attrs, "C5");
  return {TensorType(x.dtype, y), TensorType(DType::kI64, y)};
}

Tensors vjp(const Attrs&, const VjpArgs& v) {
  const ShapeAttrs x{.shape = to_sizes(v.input_type(0).shape)};
  return {call1(OpId::k_max_pool_backward, x, {v.cotangent(0), v.output(1)})};
}

Cases<Attrs> cases() {
  const CaseTensor line = f32({1, 1, 6}, {1, 5, 2, 4, 3, 6});
  return {
      {.name = "example",
       .attrs = {.kernel_shape = {2, 2}},
       .inputs = {f32({1, 1, 3, 3}, {1, 2, 3, 8, 5, 4, 7, 6, 9})},
       .expect = {f32({1, 1, 2, 2}, {8, 5, 8, 9}), i64({1, 1, 2, 2}, {3, 4, 3, 8})},
       .n_outputs = 2},
      {.name = "strides",
       .attrs = {.kernel_shape = {2}, .strides = {2}},
       .inputs = {line},
       .expect = {f32({1, 1, 3}, {5, 4, 6}), i64({1, 1, 3}, {1, 3, 5})},
       .n_outputs = 2},
      {.name = "padding_never_wins",
       .attrs = {.kernel_shape = {2}, .pads = {1, 1}},
       .inputs = {f32({1, 1, 2}, {-3, -4})},
       .expect = {f32({1, 1, 3}, {-3, -3, -4}), i64({1, 1, 3}, {0, 0, 1})},
       .n_outputs = 2},
      {.name = "dilations",
       .attrs = {.kernel_shape = {2}, .dilations = {3}},
       .inputs = {line},
       .expect = {f32({1, 1, 3}, {4, 5, 6}), i64({1, 1, 3}, {3, 1, 5})},
       .n_outputs = 2},
      {.name = "ceil_mode",
       .attrs = {.kernel_shape = {3}, .strides = {2}, .ceil_mode = true},
       .inputs = {line},
       .expect = {f32({1, 1, 3}, {5, 4, 6}), i64({1, 1, 3}, {1, 3, 5})},
       .n_outputs = 2},
      {.name = "ceil_mode_drops_a_window_past_the_end",
       .attrs = {.kernel_shape = {1}, .strides = {2}, .ceil_mode = true},
       .inputs = {f32({1, 1, 4}, {1, 2, 3, 4})},
       .expect = {f32({1, 1, 2}, {1, 3}), i64({1, 1, 2}, {0, 2})},
       .n_outputs = 2},
      {.name = "indices_count_batch_and_channels",
       .attrs = {.kernel_shape = {2}},
       .inputs = {f32({2, 2, 2}, {1, 2, 4, 3, 5, 6, 8, 7})},
       .expect = {f32({2, 2, 1}, {2, 4, 6, 8}), i64({2, 2, 1}, {1, 2, 5, 6})},
       .n_outputs = 2},
      {.name = "first_of_equals",
       .attrs = {.kernel_shape = {3}},
       .inputs = {f32({1, 1, 4}, {7, 7, 1, 7})},
       .expect = {f32({1, 1, 2}, {7, 7}), i64({1, 1, 2}, {0, 1})},
       .check_gradient = false,
       .n_outputs = 2},
      {.name = "nan_wins",
       .attrs = {.kernel_shape = {2}},
       .inputs = {f32({1, 1, 4}, {INFINITY, NAN, 1, 2})},
       .expect = {f32({1, 1, 3}, {NAN, NAN, 2}), i64({1, 1, 3}, {1, 1, 3})},
       .check_gradient = false,
       .n_outputs = 2},
      {.name = "lowest_values",
       .attrs = {.kernel_shape = {2}, .pads = {1, 0}},
       .inputs = {f32({1, 1, 2}, {-INFINITY, -INFINITY})},
       .expect = {f32({1, 1, 2}, {-INFINITY, -INFINITY}), i64({1, 1, 2}, {0, 0})},
       .check_gradient = false,
       .n_outputs = 2},
      {.name = "integers",
       .attrs = {.kernel_shape = {2}},
       .inputs = {i8({1, 1, 3}, {-128, -128, 4})},
       .expect = {i8({1, 1, 2}, {-128, 4}), i64({1, 1, 2}, {0, 2})},
       .n_outputs = 2},
      {.name = "three_axes",
       .attrs = {.kernel_shape = {2, 1, 3},
                 .strides = {1, 2, 2},
                 .pads = {1, 0, 0, 0, 0, 1},
                 .dilations = {2, 1, 1},
                 .ceil_mode = true},
       .inputs = {uniform({2, 3, 4, 3, 4})},
       .n_outputs = 2},
      {.name = "values_alone",
       .attrs = {.kernel_shape = {2, 2}},
       .inputs = {uniform({1, 2, 4, 4})}},
      {.name = "empty_batch", .attrs = {.kernel_shape = {2}}, .inputs = {uniform({0, 2, 4})}},
      {.name = "boolean",
       .attrs = {.kernel_shape = {1}},
       .inputs = {boolean({1, 1, 1}, {1})},
       .error = "C1"},
      {.name = "no_spatial_axes",
       .attrs = {.kernel_shape = {2}},
       .inputs = {uniform({2, 3})},
       .error = "C2"},
      {.name = "no_kernel_shape", .inputs = {line}, .error = "C3"},
      {.name = "negative_pads",
       .attrs = {.kernel_shape = {2}, .pads = {-1, 0}},
       .inputs = {line},
       .error = "C3"},
      {.name = "window_is_larger", .attrs = {.kernel_shape = {7}}, .inputs = {line}, .error = "C4"},
      {.name = "window_of_padding_alone",
       .attrs = {.kernel_shape = {2}, .pads = {2, 0}},
       .inputs = {line},
       .error = "C5"},
  };
}

}  // namespace

OpDef max_pool_def() {
  return define<Attrs>({
      .name = "max_pool",
      .summary = "The largest element of each window, and its index.",
      .formula = "y[n, c, p] = max(x[n, c, p * stride + k * dilation - pad] for k)",
      .details = "Padding is never selected. Ties select the first element, and the derivative "
                 "goes to it alone. NaN counts as the largest element.",
      .inputs = {{"x", "batch, channels, then one to three spatial axes"}},
      .outputs = {{"y", "the largest elements"},
                  {"indices", "the row-major index of each in the whole of x"}},
      .attrs_doc =
          {{"kernel_shape", "The size of the window along each spatial axis."},
           {"strides", "The step of the window along each spatial axis; empty for ones."},
           {"pads", "The padding before each spatial axis, then after each; empty for none."},
           {"dilations",
            "The step between elements of the window along each spatial axis; empty for ones."},
           {"ceil_mode", "Whether to include windows that extend past the end."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kSome,
      .saved_outputs = 0b10,
      .numeric = Numeric::kExact,
      .onnx = "MaxPool",
  });
}

}  // namespace tenon::ops
