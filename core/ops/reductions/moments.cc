// moments: the mean and the variance of elements along some axes, in one pass.

#include <limits>

#include "core/ops/reductions/reduction.h"
#include "core/ops/reductions/square_scale.h"

namespace tenon::ops {
namespace {

using Attrs = ReduceAttrs;

// Constraints.
//   C1  x is floating point.
//   C2  the axes are valid for x; see reduction.h.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType y = infer_reduced_floating(attrs, in)[0];
  return {y, y};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const TensorType& type = in[0]->type;
  const Tensor x = to_dtype(in[0], wide_dtype(type.dtype));
  const Tensor centre = mean(x, {.axes = attrs.axes, .keepdims = true});
  const Along along{.axes = attrs.axes, .keepdims = true};
  const Tensor distances = x - centre;
  const SquareScale scale =
      square_scale(type.dtype, [&] { return mean(square(distances), along); });
  const Tensor variance = scale.undo(scale.undo(mean(square(scale.of(distances)), along)));
  const uint32_t mask = axes_mask(attrs.axes, type.rank());
  const Dims shape = reduced_shape(type.shape, mask, attrs.keepdims);
  return {to_dtype(reshape(centre, shape), type.dtype),
          to_dtype(reshape(variance, shape), type.dtype)};
}

// If an element changes by dx, the mean changes by dx / n, and the variance by 2 (x - mean) dx / n.
// The change of the mean has no effect on the variance, because the differences x - mean sum to
// zero.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& type = v.input_type(0);
  const DType wide = wide_dtype(type.dtype);
  const uint32_t mask = axes_mask(attrs.axes, type.rank());
  const auto reached = [&](size_t output) {
    return to_dtype(broadcast_along(v.cotangent(output), type, mask), wide);
  };
  const Tensor n = count_as(wide, count_reduced(attrs.axes, type.shape));
  Tensor dx;
  if (v.has_cotangent(0)) dx = reached(0) / n;
  if (v.has_cotangent(1)) {
    const Tensor x = to_dtype(v.input(0), wide);
    const Tensor distances = x - mean(x, {.axes = attrs.axes, .keepdims = true});
    const Tensor twice = n->is_scalar_value() ? number(2 / n->float_value) : number(2) / n;
    const Tensor of_variance = reached(1) * distances * twice;
    dx = dx ? dx + of_variance : of_variance;
  }
  return {to_dtype(dx, type.dtype)};
}

Cases<Attrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const CaseTensor x = f32({2, 2}, {1, 3, 2, 8});
  return {
      {.name = "example",
       .inputs = {f32({1, 2, 3, 4})},
       .expect = {f32({}, {2.5}), f32({}, {1.25})},
       .n_outputs = 2},
      {.name = "rows",
       .attrs = {.axes = {-1}},
       .inputs = {x},
       .expect = {f32({2, 5}), f32({1, 9})},
       .n_outputs = 2},
      {.name = "keepdims",
       .attrs = {.axes = {0}, .keepdims = true},
       .inputs = {x},
       .expect = {f32({1, 2}, {1.5, 5.5}), f32({1, 2}, {0.25, 6.25})},
       .n_outputs = 2},
      {.name = "large_mean",
       .inputs = {f32({16777212, 16777214})},
       .expect = {f32({}, {16777213}), f32({}, {1})},
       .check_gradient = false,  // Finite differences of such large numbers are meaningless.
       .n_outputs = 2},
      {.name = "squares_would_overflow",
       .inputs = {f32({4e19, -4e19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})},
       .expect = {f32({}, {0}), f32({}, {2e38})},
       .check_gradient = false,
       .n_outputs = 2},
      {.name = "halves_do_not_overflow",
       .inputs = {f16({60000, 60000})},
       .expect = {f16({}, {60000}), f16({}, {0})},
       .n_outputs = 2},
      {.name = "two_axes",
       .attrs = {.axes = {0, 2}},
       .inputs = {uniform({3, 4, 2})},
       .n_outputs = 2},
      {.name = "of_nothing",
       .inputs = {uniform({0})},
       .expect = {f32({}, {kNaN}), f32({}, {kNaN})},
       .check_gradient = false,
       .n_outputs = 2},
      {.name = "no_results", .attrs = {.axes = {0}}, .inputs = {uniform({3, 0})}, .n_outputs = 2},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axes = {2}}, .inputs = {x}, .error = "C2"},
  };
}

}  // namespace

OpDef moments_def() {
  return define<Attrs>({
      .name = "moments",
      .summary = "The mean and the variance of elements along some axes.",
      .formula = "mean = sum(x[i]) / n; variance = sum((x[i] - mean)^2) / n",
      .details = "The variance is the population variance. Both are NaN for no elements. Half "
                 "types are computed in float32. The sum of squares does not overflow unless the "
                 "variance does (see l2_norm).",
      .inputs = {{"x", "any floating tensor"}},
      .outputs = {{"mean", "the mean for each index along the other axes"},
                  {"variance", "the variance for each index along the other axes"}},
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kInputs,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
