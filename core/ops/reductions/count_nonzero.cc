// count_nonzero: the number of nonzero elements along some axes.

#include <limits>

#include "core/ops/reductions/reduction.h"

namespace tenon::ops {
namespace {

using Attrs = ReduceAttrs;

// Constraints.
//   C2  -rank(x) <= axis < rank(x) for each of `axes`; see reduction.h.
//   C3  y is int64.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorTypes reduced = infer_reduced(attrs, in[0]);
  return {TensorType(DType::kI64, reduced[0].shape)};  // C3
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor& x = in[0];
  const Tensor counted = not_equal(x, number_of(x->type.dtype, 0));
  return {sum(cast(counted, DType::kI64), attrs)};
}

Cases<Attrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const CaseTensor x = f32({2, 3}, {1, 0, -2, 0, 0, 3});
  return {
      {.name = "example", .inputs = {x}, .expect = {i64({}, {3})}},
      {.name = "rows", .attrs = {.axes = {1}}, .inputs = {x}, .expect = {i64({2, 1})}},
      {.name = "columns", .attrs = {.axes = {-2}}, .inputs = {x}, .expect = {i64({1, 0, 2})}},
      {.name = "keepdims",
       .attrs = {.axes = {1}, .keepdims = true},
       .inputs = {x},
       .expect = {i64({2, 1}, {2, 1})}},
      {.name = "bool", .inputs = {boolean({1, 0, 1})}, .expect = {i64({}, {2})}},
      {.name = "integers", .inputs = {u8({0, 255, 1, 0})}, .expect = {i64({}, {2})}},
      {.name = "half", .inputs = {f16({0, 0x1p-24, -1})}, .expect = {i64({}, {2})}},
      {.name = "negative_zero_is_zero_and_nan_is_not",
       .inputs = {f32({-0.0, kNaN, 0x1p-149})},
       .expect = {i64({}, {2})}},
      {.name = "rank_0", .inputs = {f64({}, {3})}, .expect = {i64({}, {1})}},
      {.name = "of_nothing",
       .attrs = {.axes = {1}},
       .inputs = {uniform({2, 0})},
       .expect = {i64({0, 0})}},
      {.name = "no_results",
       .attrs = {.axes = {0}},
       .inputs = {uniform({3, 0})},
       .expect = {i64({0}, {})}},
      {.name = "axis_out_of_range", .attrs = {.axes = {2}}, .inputs = {x}, .error = "C2"},
      {.name = "axis_twice", .attrs = {.axes = {1, -1}}, .inputs = {x}, .error = "C2"},
  };
}

}  // namespace

OpDef count_nonzero_def() {
  return define_reduction<Attrs>({
      .name = "count_nonzero",
      .summary = "The number of nonzero elements along some axes.",
      .formula = "y = sum(x[i] != 0)",
      .details = "NaN counts as nonzero, -0 as zero. A reduction over no elements gives 0.",
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .sparse_output = true,
      .no_gradient = "its result is an integer",
  });
}

}  // namespace tenon::ops
