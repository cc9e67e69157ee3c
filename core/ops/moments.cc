// moments: the mean and the variance of elements along some axes, from one walk over them.

#include <limits>

#include "core/ops/reduction.h"

namespace tenon::ops {
namespace {

using Attrs = ReduceAttrs;

// Constraints.
//   C1  x is floating point.
//   C2  the axes are x's; see reduction.h.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType y = infer_reduced_floating(attrs, in)[0];
  return {y, y};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const TensorType& type = in[0]->type;
  const Tensor x = to_dtype(in[0], wide_dtype(type.dtype));
  const Tensor centre = mean(x, {.axes = attrs.axes, .keepdims = true});
  const Tensor variance = mean(square(x - centre), attrs);
  return {to_dtype(reshape(centre, variance->shape()), type.dtype), to_dtype(variance, type.dtype)};
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
       .check_gradient = false,  // Differences of so large numbers say nothing.
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
      .details = "The variance is that of the population. Both are NaN for no elements. Half types "
                 "are computed in float32.",
      .inputs = {{"x", "any floating tensor"}},
      .outputs = {{"mean", "the mean for each place along the other axes"},
                  {"variance", "the variance for each place along the other axes"}},
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
