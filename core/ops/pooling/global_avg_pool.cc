// global_avg_pool: the mean of each channel over all spatial axes.

#include "core/ops/convolution/conv_shape.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is floating point.
//   C2  x has a batch, channels and at least one spatial axis.
//   C3  y has the axes of x, with size 1 for the spatial ones.
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  require(x.rank() > kSpatial, "C2: x must have a batch, channels and a spatial axis, but is {}",
          x);
  TensorType y = x;
  for (size_t i = kSpatial; i < y.rank(); ++i) y.shape[i] = 1;
  return {y};  // C3
}

Tensors decompose(const NoAttrs&, TensorSpan in) {
  Ints axes;
  for (size_t i = kSpatial; i < in[0]->rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  return {mean(in[0], {.axes = axes, .keepdims = true})};
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({1, 2, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40})},
       .expect = {f32({1, 2, 1, 1}, {2.5, 25})}},
      {.name = "one_axis", .inputs = {uniform({2, 3, 5})}},
      {.name = "three_axes", .inputs = {uniform({2, 3, 2, 3, 2})}},
      {.name = "empty_batch", .inputs = {uniform({0, 2, 4})}},
      {.name = "integers", .inputs = {i32({1, 1, 1}, {1})}, .error = "C1"},
      {.name = "no_spatial_axes", .inputs = {uniform({2, 3})}, .error = "C2"},
  };
}

}  // namespace

OpDef global_avg_pool_def() {
  return define<NoAttrs>({
      .name = "global_avg_pool",
      .summary = "The mean of each channel over all spatial axes.",
      .formula = "y[n, c] = mean(x[n, c, p] for p)",
      .inputs = {{"x", "batch, channels, then the spatial axes"}},
      .outputs = {{"y", "batch, channels, then axes of size 1"}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kAccumulation,
      .onnx = "GlobalAveragePool",
  });
}

}  // namespace tenon::ops
