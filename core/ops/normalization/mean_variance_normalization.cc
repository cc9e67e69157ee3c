// mean_variance_normalization: subtracts the mean over some axes and divides by the standard
// deviation.

#include <cmath>

#include "core/ops/definition/op_ids.h"
#include "core/ops/reductions/reduction.h"
#include "core/ops/reductions/square_scale.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Ints axes{0, 2, 3};  // The axes to normalise over, negative ones from the end.
  TENON_ATTRS(axes)
};

// Constraints.
//   C1  x is floating point.
//   C2  -rank(x) <= axis < rank(x) for each of `axes`, without duplicates.
//   C3  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require(is_floating(in[0].dtype), "C1: x must be floating point, but is {}", in[0].dtype);
  require_axes(attrs.axes, in[0], "C2");
  return {in[0]};  // C3
}

constexpr double kEpsilon = 1e-9;

// Computes the deviation with l2_norm, whose derivative is 0 if all elements are equal.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const bool has_long = in[0]->type.dtype != DType::kF16;  // Whether the norm may overflow float32.
  return {in_wide(in[0], [&](const Tensor& x) {
    const Along along{.axes = attrs.axes, .keepdims = true};
    const Tensor centered = x - mean(x, along);
    const Tensor n = count_as(x->type.dtype, count_reduced(attrs.axes, x->shape()));
    const Tensor root = n->is_scalar_value() ? number(std::sqrt(n->float_value)) : sqrt(n);
    const Tensor shorter = has_long ? centered * kLengthScale : centered;
    const Tensor deviation = call1(OpId::k_l2_norm, along, {shorter}) / root;
    if (!has_long) return centered / (deviation + kEpsilon);
    return centered / (deviation + kEpsilon * kLengthScale) * kLengthScale;
  })};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({1, 2, 1, 2}, {1, 3, 10, 6})},
       .expect = {f32({1, 2, 1, 2}, {-1, 1, 1, -1})}},
      {.name = "batch",
       .inputs = {f32({2, 2, 1, 2}, {1, 2, 3, 7, 5, -4, 0, 2})},
       .expect = {f32({2, 2, 1, 2},
                      {0.0, 0.30860669982894573, 0.0, 1.5689290804900877, 1.234426799315783,
                       -1.5430334991447285, -1.1766968103675657, -0.39223227012252193})}},
      {.name = "axes",
       .attrs = {.axes = {-1}},
       .inputs = {f32({2, 3}, {1, 2, 4, 3, 6, 3})},
       .expect = {f32({2, 3}, {-1.0690449667925552, -0.26726124169813886, 1.3363062084906938,
                               -0.7071067811865475, 1.414213562373095, -0.7071067811865475})}},
      {.name = "all_the_same",
       .attrs = {.axes = {0}},
       .inputs = {f32({3, 3})},
       .expect = {f32({0, 0})},
       // The deviation is 0, so the slope is 1e9, which is too steep for finite differences.
       .check_gradient = false},
      {.name = "deviation_would_overflow",
       .attrs = {.axes = {1}},
       .inputs = {f32({3, 2}, {3e38, -3e38, 1e30, 3e30, 1e-30, 3e-30})},
       .expect = {f32({3, 2}, {1, -1, -1, 1, -1e-21, 1e-21})},
       .atol = 0,
       .check_gradient = false},
      {.name = "half", .attrs = {.axes = {0}}, .inputs = {f16({1, 3})}, .expect = {f16({-1, 1})}},
      {.name = "drawn", .inputs = {uniform({2, 3, 2, 4})}},
      {.name = "no_elements", .inputs = {uniform({0, 2, 3, 3})}},
      {.name = "integers", .attrs = {.axes = {0}}, .inputs = {i32({1, 2})}, .error = "C1"},
      {.name = "axis_out_of_range", .inputs = {uniform({2, 3, 4})}, .error = "C2"},
      {.name = "axis_twice", .attrs = {.axes = {0, -1}}, .inputs = {f32({1, 2})}, .error = "C2"},
  };
}

}  // namespace

OpDef mean_variance_normalization_def() {
  return define<Attrs>({
      .name = "mean_variance_normalization",
      .summary = "Normalises the elements along some axes to mean 0, and divides them by their "
                 "standard deviation.",
      .formula = "y = (x - mean) / (sqrt(var) + 1e-9)",
      .details = "The variance is the population variance. Half types are computed in float32.",
      .inputs = {{"x", "any floating tensor"}},
      .outputs = {{"y", "of the type of x"}},
      .attrs_doc = {{"axes",
                     "The axes to compute mean and deviation over; negative values count from the "
                     "end. Empty for all."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .onnx = "MeanVarianceNormalization",
  });
}

}  // namespace tenon::ops
