// instance_norm: normalises each channel of each example to mean 0 and variance 1.

#include "core/ops/definition/op_ids.h"
#include "core/ops/reductions/norm.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double epsilon = 1e-5;  // Added to the variance.
  TENON_ATTRS(epsilon)
};

// Constraints.
//   C1  x, scale and bias are floating point and of one dtype.
//   C2  x has a batch and channels.
//   C3  scale and bias have one element for each channel.
//   C4  epsilon is not negative.
//   C5  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require_channels(in);
  require(attrs.epsilon >= 0, "C4: epsilon must not be negative, but is {}", attrs.epsilon);
  return {in[0]};  // C5
}

// Calls group_norm with one group per channel.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const int64_t channels = in[0]->shape()[1];
  if (channels == 0) return {identity(in[0])};
  const GroupNormAttrs groups{.epsilon = attrs.epsilon, .num_groups = channels};
  return {call1(OpId::k_group_norm, groups, {in[0], in[1], in[2]})};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({1, 2, 2}, {1, 3, 10, 6}), one = f32({1, 1}), zero = f32({0, 0});
  return {
      {.name = "example",
       .attrs = {.epsilon = 0},
       .inputs = {x, f32({1, 10}), f32({0, 5})},
       .expect = {f32({1, 2, 2}, {-1, 1, 15, -5})}},
      {.name = "batch",
       .inputs = {f32({2, 2, 3}, {1, 2, 6, 3, 6, -1, -1, 0.5, 2, 4, 2, 2.5}), f32({1, 2}),
                  f32({0, 1})},
       .expect = {f32({2, 2, 3}, {-0.9258191078240388, -0.4629095539120194, 1.3887286617360581,
                                  1.2324951361055043, 3.324951361055042, -1.5574464971605462,
                                  -1.2247407889290967, 0.0, 1.2247407889290967, 3.7456068839527146,
                                  -0.9611477742519396, 0.21554089029922396})}},
      {.name = "epsilon",
       .attrs = {.epsilon = 3},
       .inputs = {f32({1, 2, 2}, {1, 3, 0, 8}), f32({1, 2}), f32({0, 1})},
       .expect = {f32({1, 2, 2}, {-0.5, 0.5, -0.835325870964494, 2.835325870964494})}},
      {.name = "one_element_in_a_channel",
       .inputs = {f32({1, 2}, {7, 8}), one, f32({1, 2})},
       .expect = {f32({1, 2}, {1, 2})}},
      {.name = "half",
       .attrs = {.epsilon = 0},
       .inputs = {f16({1, 1, 2}, {3, 1}), f16({2}), f16({1})},
       .expect = {f16({1, 1, 2}, {3, -1})}},
      {.name = "spatial_axes", .inputs = {uniform({2, 3, 4, 2}), uniform({3}), uniform({3})}},
      {.name = "empty_batch", .inputs = {uniform({0, 2, 3}), one, zero}},
      {.name = "channels_without_elements",
       .inputs = {f32({1, 2, 0}, {}), one, zero},
       .expect = {f32({1, 2, 0}, {})}},
      {.name = "no_channels",
       .inputs = {f32({1, 0, 2}, {}), f32({0}, {}), f32({0}, {})},
       .expect = {f32({1, 0, 2}, {})}},
      {.name = "integers", .inputs = {i32({1, 1}, {1}), i32({1}), i32({1})}, .error = "C1"},
      {.name = "a_vector", .inputs = {f32({1, 2}), one, zero}, .error = "C2"},
      {.name = "bias_differs", .inputs = {x, one, f32({1, 2, 3})}, .error = "C3"},
      {.name = "negative_epsilon",
       .attrs = {.epsilon = -1},
       .inputs = {x, one, zero},
       .error = "C4"},
  };
}

}  // namespace

OpDef instance_norm_def() {
  return define<Attrs>({
      .name = "instance_norm",
      .summary = "Normalises each channel of each example to mean 0 and variance 1, then scales "
                 "and shifts it.",
      .formula = "y = (x - mean) / sqrt(var + epsilon) * scale + bias, with mean and var of the "
                 "channel",
      .details = "The variance is the population variance. Half types are computed in float32.",
      .inputs = {{"x", "batch, channels, then any axes"},
                 {"scale", "one element for each channel"},
                 {"bias", "one element for each channel"}},
      .outputs = {{"y", "of the type of x"}},
      .attrs_doc = {{"epsilon", "Added to the variance."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
      .onnx = "InstanceNormalization",
  });
}

}  // namespace tenon::ops
