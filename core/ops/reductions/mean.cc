// mean: the mean of elements along some axes.

#include <limits>

#include "core/ops/reductions/reduction.h"

namespace tenon::ops {
namespace {

using Attrs = ReduceAttrs;

// Constraints.
//   C1  x is floating point.
//   C2  the axes are valid for x; see reduction.h.

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Size n = count_reduced(attrs.axes, in[0]->shape());
  return {
      in_wide(in[0], [&](const Tensor& x) { return sum(x, attrs) / count_as(x->type.dtype, n); })};
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& x = v.input_type(0);
  const Size n = count_reduced(attrs.axes, x.shape);
  const Tensor share =
      in_wide(v.cotangent(0), [&](const Tensor& g) { return g / count_as(g->type.dtype, n); });
  return {broadcast_along(share, x, axes_mask(attrs.axes, x.rank()))};
}

Cases<Attrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const CaseTensor x = f32({2, 2}, {1, 2, 3, 6});
  return {
      {.name = "example", .inputs = {x}, .expect = {f32({}, {3})}},
      {.name = "rows", .attrs = {.axes = {-1}}, .inputs = {x}, .expect = {f32({1.5, 4.5})}},
      {.name = "keepdims",
       .attrs = {.axes = {0}, .keepdims = true},
       .inputs = {x},
       .expect = {f32({1, 2}, {2, 4})}},
      {.name = "halves_do_not_overflow",
       .inputs = {f16({60000, 60000})},
       .expect = {f16({}, {60000})}},
      {.name = "rank_0", .inputs = {f64({}, {3})}, .expect = {f64({}, {3})}},
      {.name = "of_nothing",
       .inputs = {uniform({0})},
       .expect = {f32({}, {kNaN})},
       .check_gradient = false},
      {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axes = {2}}, .inputs = {x}, .error = "C2"},
  };
}

}  // namespace

OpDef mean_def() {
  return define_reduction<Attrs>({
      .name = "mean",
      .summary = "The mean of elements along some axes.",
      .formula = "y = sum(x[i]) / n",
      .details = "The mean of no elements is NaN. f16 and bf16 are summed in f32. Integers are "
                 "rejected, because their mean is rarely an integer: cast them first.",
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer_reduced_floating,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kAccumulation,
      .onnx = "ReduceMean",
  });
}

}  // namespace tenon::ops
