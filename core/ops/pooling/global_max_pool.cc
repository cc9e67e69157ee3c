// global_max_pool: the largest element of each channel over all spatial axes.

#include <cmath>

#include "core/ops/convolution/conv_shape.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is numeric.
//   C2  x has a batch, channels and at least one spatial axis.
//   C3  the spatial axes are not empty, unless the result has no elements.
//   C4  y has the axes of x, with size 1 for the spatial ones.
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_numeric(x.dtype), "C1: x must be numeric, but is {}", x.dtype);
  require(x.rank() > kSpatial, "C2: x must have a batch, channels and a spatial axis, but is {}",
          x);
  TensorType y(x.dtype, x.shape);
  for (size_t i = kSpatial; i < y.rank(); ++i) y.shape[i] = 1;
  require(count(x.shape) > 0 || count(y.shape) == 0, "C3: the channels of {} have no elements", x);
  return {y};  // C4
}

Tensors decompose(const NoAttrs&, TensorSpan in) {
  Ints axes;
  for (size_t i = kSpatial; i < in[0]->rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  return {max(in[0], {.axes = axes, .keepdims = true})};
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({1, 2, 2, 2}, {1, 2, 4, 3, -40, -20, -30, -10})},
       .expect = {f32({1, 2, 1, 1}, {4, -10})}},
      {.name = "integers",
       .inputs = {i8({2, 1, 2}, {-128, -127, 5, 5})},
       .expect = {i8({2, 1, 1}, {-127, 5})}},
      {.name = "nan_wins",
       .inputs = {f32({1, 1, 3}, {INFINITY, NAN, 1})},
       .expect = {f32({1, 1, 1}, {NAN})}},
      {.name = "three_axes", .inputs = {uniform({2, 3, 2, 3, 2})}},
      {.name = "empty_batch", .inputs = {uniform({0, 2, 4})}, .expect = {f32({0, 2, 1}, {})}},
      {.name = "bool_is_not_numeric", .inputs = {boolean({1, 1, 1}, {1})}, .error = "C1"},
      {.name = "no_spatial_axes", .inputs = {uniform({2, 3})}, .error = "C2"},
      {.name = "empty_channels", .inputs = {uniform({1, 2, 0})}, .error = "C3"},
  };
}

}  // namespace

OpDef global_max_pool_def() {
  return define<NoAttrs>({
      .name = "global_max_pool",
      .summary = "The largest element of each channel over all spatial axes.",
      .formula = "y[n, c] = max(x[n, c, p] for p)",
      .details = "NaN counts as the largest element. Ties share the derivative evenly.",
      .inputs = {{"x", "batch, channels, then the spatial axes"}},
      .outputs = {{"y", "batch, channels, then axes of size 1"}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .onnx = "GlobalMaxPool",
  });
}

}  // namespace tenon::ops
