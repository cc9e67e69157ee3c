// group_norm: normalises groups of channels of each example to mean 0 and variance 1.

#include "core/ops/reductions/norm.h"

namespace tenon::ops {
namespace {

using Attrs = GroupNormAttrs;

enum Input { kX, kScale, kBias };

// Constraints.
//   C1  x, scale and bias are floating point and of one dtype.
//   C2  x has a batch and channels.
//   C3  scale and bias have one element for each channel.
//   C4  epsilon is not negative.
//   C5  num_groups is positive and divides the number of channels.
//   C6  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require_channels(in);
  require(attrs.epsilon >= 0, "C4: epsilon must not be negative, but is {}", attrs.epsilon);
  require(attrs.num_groups > 0 && in[kX].shape[1] % attrs.num_groups == 0,
          "C5: num_groups {} does not divide the channels of x: {}", attrs.num_groups, in[kX]);
  return {in[kX]};  // C6
}

constexpr int64_t kMembers = 2;  // The axis of the elements of a group, in the result of grouped().

// Reshapes x to [batch, groups, elements of a group] in the compute dtype.
Tensor grouped(const Attrs& attrs, const Tensor& x) {
  const Dims& shape = x->shape();
  Size members = shape[1] / attrs.num_groups;
  for (size_t i = 2; i < shape.rank(); ++i) members *= shape[i];
  return reshape(to_dtype(x, wide_dtype(x->type.dtype)), {shape[0], attrs.num_groups, members});
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const TensorType& type = in[kX]->type;
  const Statistics s = statistics(grouped(attrs, in[kX]), {kMembers}, type.dtype, attrs.epsilon);
  const Tensor z = reshape(s.scaled * s.inv_scaled_std, type.shape);
  const Tensor y = z * broadcast_channels(in[kScale], type) + broadcast_channels(in[kBias], type);
  return {to_dtype(y, type.dtype)};
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& type = v.input_type(kX);
  const Tensor dy = to_dtype(v.cotangent(0), wide_dtype(type.dtype));
  const Statistics s =
      statistics(grouped(attrs, v.input(kX)), {kMembers}, type.dtype, attrs.epsilon);
  const Tensor z = s.scaled * s.inv_scaled_std;
  const Along channels{.axes = all_but_channels(type.rank())};
  Tensors grads(3, Tensor());
  if (v.needs(kX)) {
    const Tensor dz = grouped(attrs, dy * broadcast_channels(v.input(kScale), type));
    const Tensor dx = statistics_dx(z, s.inv_std(), {kMembers}, dz, {});
    grads[kX] = to_dtype(reshape(dx, type.shape), type.dtype);
  }
  if (v.needs(kScale)) {
    grads[kScale] = to_dtype(sum(dy * reshape(z, type.shape), channels), type.dtype);
  }
  if (v.needs(kBias)) grads[kBias] = to_dtype(sum(dy, channels), type.dtype);
  return grads;
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 4, 2}, {1, 2, 3, 6, -1, 0.5, 4, 2, 0, -3, 2.5, 1, 1, 1, 0, 8});
  const CaseTensor scale = f32({1, 2, -1, 0.5}), bias = f32({0, 1, 2, -3});
  return {
      {.name = "squares_would_leave_the_range",
       .attrs = {.epsilon = 0, .num_groups = 2},
       .inputs = {f32({1, 4}, {1e30, 3e30, 3e-30, 1e-30}), f32({1, 10, 1, 1}), f32({0, 5, 0, 2})},
       .expect = {f32({1, 4}, {-1, 15, 1, 1})},
       .check_gradient = false},
      {.name = "example",
       .attrs = {.epsilon = 0, .num_groups = 2},
       .inputs = {f32({1, 4}, {1, 3, 10, 6}), f32({1, 10, 1, 1}), f32({0, 5, 0, 2})},
       .expect = {f32({1, 4}, {-1, 15, 1, 1})}},
      {.name = "num_groups",
       .attrs = {.num_groups = 2},
       .inputs = {x, scale, bias},
       .expect = {f32({2, 4, 2}, {-1.0690434404458735, -0.5345217202229368, 1.0, 4.207130321337621,
                                  3.2838991429433815, 2.4730154737159826, -2.290476789426026,
                                  -2.831065902244292, -0.06213689982870818, -1.5534224957177045,
                                  3.361202193490911, 1.8699165976019145, 2.4685210571190166,
                                  2.4685210571190166, -3.3904342142658472, -2.1410447286151357})}},
      {.name = "one_group",
       .inputs = {x, scale, bias},
       .expect = {f32(
           {2, 4, 2},
           {-0.5849609085015512, -0.09236224871077124, 1.8004728221600175, 4.756064780904698,
            3.5701582280831112, 2.831260238396941, -2.5535824645646055, -3.046181124355386,
            -0.44863985566978654, -1.4741023829150128, 1.8118245007358043, 0.7863619734905778,
            2.106819013254711, 2.106819013254711, -3.2243199278348933, -1.8570365581745913})}},
      {.name = "epsilon",
       .attrs = {.epsilon = 3},
       .inputs = {f32({1, 2}, {1, 3}), f32({1, 1}), f32({0, 0})},
       .expect = {f32({1, 2}, {-0.5, 0.5})}},
      {.name = "far_from_zero",
       .attrs = {.epsilon = 0},
       .inputs = {f32({1, 2}, {10000, 10002}), f32({1, 1}), f32({0, 0})},
       .expect = {f32({1, 2}, {-1, 1})}},
      {.name = "half",
       .attrs = {.epsilon = 0},
       .inputs = {f16({1, 1, 2}, {3, 1}), f16({2}), f16({1})},
       .expect = {f16({1, 1, 2}, {3, -1})}},
      {.name = "spatial_axes",
       .attrs = {.num_groups = 3},
       .inputs = {uniform({2, 6, 3, 2}), uniform({6}), uniform({6})}},
      {.name = "empty_batch",
       .attrs = {.num_groups = 2},
       .inputs = {uniform({0, 4, 3}), uniform({4}), uniform({4})}},
      {.name = "empty_groups",
       .inputs = {f32({1, 2, 0}, {}), f32({1, 1}), f32({0, 0})},
       .expect = {f32({1, 2, 0}, {})}},
      {.name = "integers", .inputs = {i32({1, 1}, {1}), i32({1}), i32({1})}, .error = "C1"},
      {.name = "no_channels", .inputs = {f32({1, 2}), f32({1}), f32({1})}, .error = "C2"},
      {.name = "scale_differs", .inputs = {x, f32({1, 2}), bias}, .error = "C3"},
      {.name = "bias_has_an_axis_for_each_of_x",
       .inputs = {x, scale, uniform({4, 1})},
       .error = "C3"},
      {.name = "negative_epsilon",
       .attrs = {.epsilon = -1},
       .inputs = {x, scale, bias},
       .error = "C4"},
      {.name = "groups_do_not_divide",
       .attrs = {.num_groups = 3},
       .inputs = {x, scale, bias},
       .error = "C5"},
      {.name = "no_groups", .attrs = {.num_groups = 0}, .inputs = {x, scale, bias}, .error = "C5"},
  };
}

}  // namespace

OpDef group_norm_def() {
  return define<Attrs>({
      .name = "group_norm",
      .summary = "Normalises groups of channels of each example to mean 0 and variance 1, then "
                 "scales and shifts each channel.",
      .formula = "y = (x - mean) / sqrt(var + epsilon) * scale + bias, with mean and var of the "
                 "group",
      .details = "The variance is the population variance. Half types are computed in float32.",
      .inputs = {{"x", "batch, channels, then any axes"},
                 {"scale", "one element for each channel"},
                 {"bias", "one element for each channel"}},
      .outputs = {{"y", "of the type of x"}},
      .attrs_doc = {{"epsilon", "Added to the variance."},
                    {"num_groups", "The number of groups; it must divide the number of channels."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kSome,
      .saved_inputs = 1u << kX | 1u << kScale,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
      .onnx = "GroupNormalization",
  });
}

}  // namespace tenon::ops
