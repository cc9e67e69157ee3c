// batch_norm: normalises each channel by statistics that are inputs.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double epsilon = 1e-5;  // Added to the variance.
  TENON_ATTRS(epsilon)
};

// Constraints.
//   C1  All inputs are floating point and of one dtype.
//   C2  x has a batch and channels.
//   C3  scale, bias, mean and var have one element for each channel.
//   C4  epsilon is not negative.
//   C5  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  require(x.rank() >= 2, "C2: x must have a batch and channels, but is {}", x);
  constexpr const char* kNames[] = {"x", "scale", "bias", "mean", "var"};
  for (size_t i = 1; i < 5; ++i) {
    require(in[i].dtype == x.dtype, "C1: {} must be {} like x, but is {}", kNames[i], x.dtype,
            in[i]);
    require(in[i].rank() == 1 && in[i].shape[0] == x.shape[1],
            "C3: {} must have one element for each of {} channels, but is {}", kNames[i],
            x.shape[1], in[i]);
  }
  require(attrs.epsilon >= 0, "C4: epsilon must not be negative, but is {}", attrs.epsilon);
  return {x};  // C5
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor& x = in[0];
  Dims channels;
  for (size_t i = 0; i < x->rank(); ++i) channels.push_back(i == 1 ? x->shape()[1] : Size(1));
  const Tensor scale = reshape(in[1] * rsqrt(in[4] + attrs.epsilon), channels);
  return {(x - reshape(in[3], channels)) * scale + reshape(in[2], channels)};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 2}, {1, 2, 3, 4});
  const CaseTensor scale = f32({1, 10}), bias = f32({0, 5}), mean = f32({2, 3}), var = f32({4, 1});
  return {
      {.name = "example",
       .attrs = {.epsilon = 0},
       .inputs = {x, scale, bias, mean, var},
       .expect = {f32({2, 2}, {-0.5, -5, 0.5, 15})}},
      {.name = "epsilon",
       .attrs = {.epsilon = 12},
       .inputs = {x, f32({1, 1}), bias, mean, f32({4, 4})},
       .expect = {f32({2, 2}, {-0.25, 4.75, 0.25, 5.25})}},
      {.name = "spatial_axes",
       .inputs = {uniform({2, 3, 4, 2}), uniform({3}), uniform({3}), uniform({3}),
                  uniform({3}, 0.5, 2)}},
      {.name = "empty_batch",
       .inputs = {uniform({0, 2, 3}), uniform({2}), uniform({2}), uniform({2}),
                  uniform({2}, 0.5, 2)}},
      {.name = "integers",
       .inputs = {i32({1, 1}, {1}), i32({1}), i32({1}), i32({1}), i32({1})},
       .error = "C1"},
      {.name = "no_channels", .inputs = {f32({1, 2}), scale, bias, mean, var}, .error = "C2"},
      {.name = "channels_differ", .inputs = {x, scale, f32({1, 2, 3}), mean, var}, .error = "C3"},
      {.name = "negative_epsilon",
       .attrs = {.epsilon = -1},
       .inputs = {x, scale, bias, mean, var},
       .error = "C4"},
  };
}

}  // namespace

OpDef batch_norm_def() {
  return define<Attrs>({
      .name = "batch_norm",
      .summary = "Each channel normalised by given statistics, then scaled and shifted.",
      .formula = "y = (x - mean) / sqrt(var + epsilon) * scale + bias, by channel",
      .inputs = {{"x", "the input: batch, channels, then any other axes"},
                 {"scale", "the scale, one element for each channel"},
                 {"bias", "the bias, one element for each channel"},
                 {"mean", "the mean of each channel"},
                 {"var", "the variance of each channel"}},
      .outputs = {{"y", "the result, of the type of x"}},
      .attrs_doc = {{"epsilon", "Added to the variance."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
      .onnx = "BatchNormalization",
  });
}

}  // namespace tenon::ops
