// layer_norm: normalises each example to mean 0 and variance 1, over the axes from `axis` to the
// last.

#include "core/ops/reductions/norm.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t axis = -1;      // The first of the axes to normalise over.
  double epsilon = 1e-5;  // Added to the variance.
  TENON_ATTRS(axis, epsilon)
};

enum Input { kX, kScale, kBias };
enum Output { kY, kMean, kInvStd };

// Constraints.
//   C1  x, scale and bias are floating point and of one dtype.
//   C2  -rank(x) <= axis < rank(x).
//   C3  scale and bias can be broadcast to the sizes of x from the axis on.
//   C4  epsilon is not negative.
//   C5  type(y) = type(x); mean and inv_std have size 1 from the axis on, and are float32 if x has
//       a half type.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[kX];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, x, "C2"));
  require_broadcast_from_axis(in[kScale], x, axis, "scale");
  if (in.has(kBias)) require_broadcast_from_axis(in[kBias], x, axis, "bias");
  require(attrs.epsilon >= 0, "C4: epsilon must not be negative, but is {}", attrs.epsilon);
  TensorType saved(wide_dtype(x.dtype), x.shape);
  for (size_t i = axis; i < x.rank(); ++i) saved.shape[i] = 1;
  return {x, saved, saved};  // C5
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const DType dtype = in[kX]->type.dtype, wide = wide_dtype(dtype);
  const Tensor x = to_dtype(in[kX], wide);
  const Statistics s = statistics(x, axes_from(attrs.axis, x->rank()), dtype, attrs.epsilon);
  Tensor y = s.scaled * s.inv_scaled_std * to_dtype(in[kScale], wide);
  if (has(in, kBias)) y = y + to_dtype(in[kBias], wide);
  return {to_dtype(y, dtype), s.mean, s.inv_std()};
}

// Reads the mean and inverse deviation from the outputs, which are differentiable, so that second
// derivatives include their dependence on x.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& type = v.input_type(kX);
  const DType wide = wide_dtype(type.dtype);
  const Ints axes = axes_from(attrs.axis, type.rank());
  const Tensor x = to_dtype(v.input(kX), wide), dy = to_dtype(v.cotangent(kY), wide);
  const Tensor& inv_std = v.output(kInvStd);
  const Tensor z = (x - v.output(kMean)) * inv_std;
  const auto reached = [&](Output output) {
    return v.has_cotangent(output) ? v.cotangent(output) : Tensor();
  };

  Tensors grads(v.n_inputs(), Tensor());
  if (v.needs(kX)) {
    const Tensor dz = dy * to_dtype(v.input(kScale), wide);
    const Tensor dx =
        statistics_dx(z, inv_std, axes, dz, {.mean = reached(kMean), .inv_std = reached(kInvStd)});
    grads[kX] = to_dtype(dx, type.dtype);
  }
  const auto as_parameter = [&](const Tensor& gradient, Input input) {
    TensorType to = v.input_type(input);
    to.dtype = wide;
    return to_dtype(sum_to(gradient, to), type.dtype);
  };
  if (v.needs(kScale)) grads[kScale] = as_parameter(dy * z, kScale);
  if (v.n_inputs() > kBias && v.needs(kBias)) grads[kBias] = as_parameter(dy, kBias);
  return grads;
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 2}, {1, 3, 10, 6});
  return {
      {.name = "example",
       .attrs = {.epsilon = 0},
       .inputs = {x, f32({1, 10}), f32({0, 5})},
       .expect = {f32({2, 2}, {-1, 15, 1, -5}), f32({2, 1}, {2, 8}), f32({2, 1}, {1, 0.5})},
       .n_outputs = 3},
      {.name = "without_bias",
       .attrs = {.epsilon = 0},
       .inputs = {x, f32({1, 10})},
       .expect = {f32({2, 2}, {-1, 10, 1, -10})}},
      {.name = "epsilon",
       .attrs = {.epsilon = 3},
       .inputs = {f32({1, 3}), f32({1, 1})},
       .expect = {f32({-0.5, 0.5}), f32({2}), f32({0.5})},
       .n_outputs = 3},
      {.name = "axis",
       .attrs = {.axis = 1, .epsilon = 0},
       .inputs = {f32({1, 2, 2}, {1, 1, 3, 3}), f32({2, 2}, {1, 2, 3, 4}), f32({}, {1})},
       .expect = {f32({1, 2, 2}, {0, -1, 4, 5}), f32({1, 1, 1}, {2}), f32({1, 1, 1}, {1})},
       .n_outputs = 3},
      {.name = "far_from_zero",
       .attrs = {.epsilon = 0},
       .inputs = {f32({10000, 10002}), f32({1, 1})},
       .expect = {f32({-1, 1})}},
      {.name = "squares_would_leave_the_range",
       .attrs = {.epsilon = 0},
       .inputs = {f32({3, 2}, {1e30, 3e30, 1e-30, 3e-30, 10, 6}), f32({1, 10}), f32({0, 5})},
       .expect = {f32({3, 2}, {-1, 15, -1, 15, 1, -5}), f32({3, 1}, {2e30, 2e-30, 8}),
                  f32({3, 1}, {1e-30, 1e30, 0.5})},
       .atol = 0,
       .check_gradient = false,
       .n_outputs = 3},
      {.name = "large_rows",
       .inputs = {f32({2, 2}, {1e30, 3e30, 1e30, 1e30}), f32({1, 1})},
       .expect = {f32({2, 2}, {-1, 1, 0, 0}), f32({2, 1}, {2e30, 1e30}),
                  f32({2, 1}, {1e-30, 316.22776601683796})},
       .check_gradient = false,
       .n_outputs = 3},
      {.name = "half",
       .attrs = {.epsilon = 0},
       .inputs = {f16({1, 3}), f16({1, 1}), f16({0, 1})},
       .expect = {f16({-1, 2}), f32({2}), f32({1})},
       .n_outputs = 3},
      {.name = "more_axes",
       .attrs = {.axis = -2},
       .inputs = {uniform({2, 3, 4, 5}), uniform({4, 5}), uniform({5})},
       .n_outputs = 3},
      {.name = "no_rows", .inputs = {uniform({0, 4}), uniform({4}), uniform({4})}, .n_outputs = 3},
      {.name = "integers", .inputs = {i32({1, 3}), i32({1, 1})}, .error = "C1"},
      {.name = "axis_out_of_range",
       .attrs = {.axis = 2},
       .inputs = {x, f32({1, 1})},
       .error = "C2"},
      {.name = "scale_differs", .inputs = {x, f32({1, 2, 3})}, .error = "C3"},
      {.name = "bias_is_larger", .inputs = {x, f32({1, 1}), x}, .error = "C3"},
      {.name = "negative_epsilon",
       .attrs = {.epsilon = -1},
       .inputs = {x, f32({1, 1})},
       .error = "C4"},
  };
}

}  // namespace

OpDef layer_norm_def() {
  return define<Attrs>({
      .name = "layer_norm",
      .summary = "Normalises the elements from one axis to the last to mean 0 and variance 1, then "
                 "scales and shifts them.",
      .formula = "y = (x - mean) / sqrt(var + epsilon) * scale + bias",
      .details = "The variance is the population variance. Half types are computed in float32. The "
                 "squares neither overflow nor underflow (see l2_norm).",
      .inputs = {{"x", "any floating tensor"},
                 {"scale", "the scale, broadcast to the sizes of x from axis on"},
                 {"bias", "the bias, broadcast like scale", InputKind::kOptional}},
      .outputs = {{"y", "of the type of x"},
                  {"mean", "the means, with size 1 from axis on"},
                  {"inv_std", "1 / sqrt(var + epsilon), with size 1 from axis on"}},
      .attrs_doc = {{"axis",
                     "The first of the axes that are normalised together; negative values count "
                     "from the end."},
                    {"epsilon", "Added to the variance."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kSome,
      .saved_inputs = 1u << kX | 1u << kScale,
      .saved_outputs = 1u << kMean | 1u << kInvStd,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
      .onnx = "LayerNormalization",
  });
}

}  // namespace tenon::ops
