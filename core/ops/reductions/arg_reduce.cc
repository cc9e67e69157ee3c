// argmax and argmin: the index of the largest or smallest element along an axis.

#include <limits>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = ArgReduceAttrs;

// Constraints.
//   C1  x is numeric.
//   C2  -rank(x) <= axis < rank(x).
//   C3  the axis is not empty, unless the result is.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_numeric(x.dtype), "C1: x must be numeric, but is {}", x.dtype);
  const int64_t axis = require_axis(attrs.axis, x, "C2");
  const TensorType y(DType::kI64, reduced_shape(x.shape, 1u << axis, attrs.keepdims));
  require(count(x.shape) > 0 || count(y.shape) == 0, "C3: {} has no elements along axis {}", x,
          axis);
  return {y};
}

// The cases of argmax or argmin. `place` is the expected index for [1, 9, -5], the other arguments
// those for the rows of [[1, 2], [4, 3]].
Cases<Attrs> cases(double place, double of_rows_0, double of_rows_1) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const CaseTensor matrix = f32({2, 2}, {1, 2, 4, 3});
  return {
      {.name = "example", .inputs = {f32({1, 9, -5})}, .expect = {i64({}, {place})}},
      {.name = "ties_go_to_the_first",
       .inputs = {f32({1, 9, -5, 9, -5})},
       .expect = {i64({}, {place})}},
      {.name = "last_axis",
       .attrs = {.axis = -1},
       .inputs = {matrix},
       .expect = {i64({of_rows_0, of_rows_1})}},
      {.name = "keepdims",
       .attrs = {.axis = 1, .keepdims = true},
       .inputs = {matrix},
       .expect = {i64({2, 1}, {of_rows_0, of_rows_1})}},
      {.name = "first_nan_is_found", .inputs = {f32({1, kNaN, 9, kNaN})}, .expect = {i64({}, {1})}},
      {.name = "integers", .inputs = {i8({0, 127, -128})}, .expect = {i64({}, {place})}},
      {.name = "no_results",
       .attrs = {.axis = 1},
       .inputs = {uniform({0, 3})},
       .expect = {i64({0}, {})}},
      {.name = "bool_is_not_numeric", .inputs = {boolean({1})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axis = 2}, .inputs = {matrix}, .error = "C2"},
      {.name = "rank_0_has_no_axis", .inputs = {f32({}, {1})}, .error = "C2"},
      {.name = "of_nothing", .inputs = {uniform({0})}, .error = "C3"},
  };
}

// Defines argmax or argmin after setting the fields that both share.
OpDef define_arg_reduction(Definition<Attrs> d) {
  d.details =
      "Ties go to the lowest index. If there is a NaN, the result is the index of the first NaN.";
  d.inputs = {{"x", "the input"}};
  d.outputs = {{"y", "the index for each position along the other axes, as int64"}};
  d.attrs_doc = {{"axis", "The axis to search along; a negative one counts from the end."},
                 {"keepdims", "Whether the axis is kept with size 1."}};
  d.infer = infer;
  d.sparse_output = true;
  d.no_gradient = "its result is an index";
  return define(d);
}

}  // namespace

OpDef argmax_def() {
  return define_arg_reduction({
      .name = "argmax",
      .summary = "The index of the largest element along an axis.",
      .formula = "y = the first i for which x[i] = max(x)",
      .cases = [] { return cases(1, 1, 0); },
      .onnx = "ArgMax",
  });
}

OpDef argmin_def() {
  return define_arg_reduction({
      .name = "argmin",
      .summary = "The index of the smallest element along an axis.",
      .formula = "y = the first i for which x[i] = min(x)",
      .cases = [] { return cases(2, 0, 1); },
      .onnx = "ArgMin",
  });
}

}  // namespace tenon::ops
