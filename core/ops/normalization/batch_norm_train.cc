// batch_norm_train: normalises each channel by the statistics of this batch, and updates the
// running statistics that batch_norm uses.

#include <limits>

#include "core/ops/reductions/norm.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double epsilon = 1e-5;  // Added to the variance.
  double momentum = 0.9;  // Weight of the old running statistics in the new ones.
  TENON_ATTRS(epsilon, momentum)
};

enum Input { kX, kScale, kBias, kMean, kVar };
enum Output { kY, kRunningMean, kRunningVar, kSavedMean, kSavedInvStd };

// Constraints.
//   C1  All inputs are floating point.
//   C2  x has a batch and channels, and each channel has at least one element.
//   C3  scale, bias, mean and var have one element for each channel.
//   C4  epsilon is not negative.
//   C5  type(y) = type(x); the running statistics have the types of mean and var; the saved ones
//       are float32 if x has a half type, else of the dtype of x.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[kX];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  require(x.rank() >= 2 && (x.shape[1] == 0 || count(x.shape) > 0),
          "C2: x must have axes for batch and channels, and elements in each channel, but is {}",
          x);
  constexpr const char* kNames[] = {"x", "scale", "bias", "mean", "var"};
  for (size_t i = kScale; i <= kVar; ++i) {
    require(is_floating(in[i].dtype), "C1: {} must be floating point, but is {}", kNames[i], in[i]);
    require(in[i].rank() == 1 && in[i].shape[0] == x.shape[1],
            "C3: {} must have one element for each of {} channels, but is {}", kNames[i],
            x.shape[1], in[i]);
  }
  require(attrs.epsilon >= 0, "C4: epsilon must not be negative, but is {}", attrs.epsilon);
  const TensorType saved(wide_dtype(x.dtype), {x.shape[1]});
  return {x, in[kMean], in[kVar], saved, saved};  // C5
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const TensorType& type = in[kX]->type;
  const Tensor x = to_dtype(in[kX], wide_dtype(type.dtype));
  const Statistics s = statistics(x, all_but_channels(type.rank()), type.dtype, attrs.epsilon);
  const Tensor scale = broadcast_channels(in[kScale], type),
               bias = broadcast_channels(in[kBias], type);
  const Tensor y = s.scaled * (s.inv_scaled_std * scale) + bias;

  const Dims channels{type.shape[1]};
  const Tensor mean = reshape(s.mean, channels), variance = reshape(s.variance(), channels);
  const auto mixed = [&](const Tensor& running, const Tensor& batch) {
    const Tensor kept = attrs.momentum * to_dtype(running, batch->type.dtype);
    return to_dtype(kept + (1 - attrs.momentum) * batch, running->type.dtype);
  };
  return {to_dtype(y, type.dtype), mixed(in[kMean], mean), mixed(in[kVar], variance), mean,
          reshape(s.inv_std(), channels)};
}

// Reads the mean and inverse deviation from the outputs, which are differentiable, so that second
// derivatives include their dependence on x.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& type = v.input_type(kX);
  const DType wide = wide_dtype(type.dtype);
  const Ints axes = all_but_channels(type.rank());
  const Tensor x = to_dtype(v.input(kX), wide), dy = to_dtype(v.cotangent(kY), wide);
  const Tensor inv_std = broadcast_channels(v.output(kSavedInvStd), type);
  const Tensor z = (x - broadcast_channels(v.output(kSavedMean), type)) * inv_std;

  const auto reached = [&](Output output) {
    return v.has_cotangent(output) ? broadcast_channels(v.cotangent(output), type) : Tensor();
  };
  const double share = 1 - attrs.momentum;
  StatisticsCotangents to{.mean = reached(kSavedMean), .inv_std = reached(kSavedInvStd)};
  if (const Tensor d = reached(kRunningMean)) to.mean = to.mean ? to.mean + share * d : share * d;
  if (const Tensor d = reached(kRunningVar)) to.variance = share * d;

  Tensors grads(5, Tensor());
  if (v.needs(kX)) {
    const Tensor dz = dy * broadcast_channels(v.input(kScale), type);
    grads[kX] = to_dtype(statistics_dx(z, inv_std, axes, dz, to), type.dtype);
  }
  if (v.needs(kScale)) {
    grads[kScale] = to_dtype(sum(dy * z, {.axes = axes}), v.input_type(kScale).dtype);
  }
  if (v.needs(kBias)) grads[kBias] = to_dtype(sum(dy, {.axes = axes}), v.input_type(kBias).dtype);
  if (v.needs(kMean)) grads[kMean] = attrs.momentum * v.cotangent(kRunningMean);
  if (v.needs(kVar)) grads[kVar] = attrs.momentum * v.cotangent(kRunningVar);
  return grads;
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 2}, {1, 2, 3, 6});
  const CaseTensor scale = f32({1, 10}), bias = f32({0, 5}), mean = f32({0, 10}), var = f32({1, 2});
  return {
      {.name = "example",
       .attrs = {.epsilon = 0},
       .inputs = {x, scale, bias, mean, var},
       .expect = {f32({2, 2}, {-1, -5, 1, 15}), f32({0.2, 9.4}), f32({1, 2.2}), f32({2, 4}),
                  f32({1, 0.5})},
       .n_outputs = 5},
      {.name = "epsilon",
       .attrs = {.epsilon = 3},
       .inputs = {f32({2, 1}, {1, 3}), f32({1}), f32({0}), f32({0}), f32({1})},
       .expect = {f32({2, 1}, {-0.5, 0.5}), f32({0.2}), f32({1}), f32({2}), f32({0.5})},
       .n_outputs = 5},
      {.name = "momentum",
       .attrs = {.epsilon = 0, .momentum = 0.5},
       .inputs = {x, scale, bias, mean, var},
       .expect = {f32({2, 2}, {-1, -5, 1, 15}), f32({1, 7}), f32({1, 3}), f32({2, 4}),
                  f32({1, 0.5})},
       .n_outputs = 5},
      {.name = "spatial_axes",
       .inputs = {uniform({3, 2, 4, 2}), uniform({2}, 0.5, 2), uniform({2}), uniform({2}),
                  uniform({2}, 0.5, 2)},
       .n_outputs = 5},
      {.name = "result_alone",
       .inputs = {uniform({4, 2}), uniform({2}), uniform({2}), uniform({2}), uniform({2}, 0.5, 2)}},
      {.name = "far_from_zero",
       .attrs = {.epsilon = 0},
       .inputs = {f32({2, 1}, {10000, 10002}), f32({1}), f32({0}), f32({0}), f32({1})},
       .expect = {f32({2, 1}, {-1, 1})}},
      {.name = "squares_would_leave_the_range",
       .attrs = {.epsilon = 0},
       .inputs = {f32({2, 3}, {1e30, 1e-30, 1, 3e30, 3e-30, 5}), f32({1, 10, 1}), f32({0, 5, 0}),
                  f32({0, 0, 0}), f32({1, 1, 1})},
       .expect = {f32({2, 3}, {-1, -5, -1, 1, 15, 1}), f32({2e29, 2e-31, 0.3}),
                  f32({std::numeric_limits<double>::infinity(), 0.9, 1.3}), f32({2e30, 2e-30, 3}),
                  f32({1e-30, 1e30, 0.5})},
       .atol = 0,
       .check_gradient = false,
       .n_outputs = 5},
      {.name = "half_with_float32_statistics",
       .attrs = {.epsilon = 0},
       .inputs = {f16({2, 1}, {1, 3}), f32({1}), f32({0}), f32({0}), f32({1})},
       .expect = {f16({2, 1}, {-1, 1}), f32({0.2}), f32({1}), f32({2}), f32({1})},
       .n_outputs = 5},
      {.name = "integers",
       .inputs = {i32({1, 1}, {1}), f32({1}), f32({1}), f32({1}), f32({1})},
       .error = "C1"},
      {.name = "empty_batch", .inputs = {uniform({0, 2}), scale, bias, mean, var}, .error = "C2"},
      {.name = "channels_differ", .inputs = {x, scale, bias, mean, f32({1})}, .error = "C3"},
      {.name = "negative_epsilon",
       .attrs = {.epsilon = -1},
       .inputs = {x, scale, bias, mean, var},
       .error = "C4"},
  };
}

}  // namespace

OpDef batch_norm_train_def() {
  return define<Attrs>({
      .name = "batch_norm_train",
      .summary = "Each channel normalised by the statistics of this batch, which also update the "
                 "running statistics.",
      .formula = "y = (x - batch_mean) / sqrt(batch_var + epsilon) * scale + bias, by channel; "
                 "running = running * momentum + batch * (1 - momentum)",
      .details = "Variances are population variances. Half types are computed in float32. The "
                 "squares used for y and saved_inv_std neither overflow nor underflow (see "
                 "l2_norm).",
      .inputs = {{"x", "the input: batch, channels, then any other axes"},
                 {"scale", "the scale, one element for each channel"},
                 {"bias", "the bias, one element for each channel"},
                 {"mean", "the running mean of each channel"},
                 {"var", "the running variance of each channel"}},
      .outputs = {{"y", "the result, of the type of x"},
                  {"running_mean", "the new running mean"},
                  {"running_var", "the new running variance"},
                  {"saved_mean", "the mean of this batch"},
                  {"saved_inv_std", "1 / sqrt(batch_var + epsilon)"}},
      .attrs_doc = {{"epsilon", "Added to the variance."},
                    {"momentum", "The weight of the old running statistics in the new ones."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kSome,
      .saved_inputs = 1u << kX | 1u << kScale,
      .saved_outputs = 1u << kSavedMean | 1u << kSavedInvStd,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
