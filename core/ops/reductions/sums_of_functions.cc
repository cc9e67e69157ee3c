// l1_norm, sum_square and log_sum: sums of a function of each element, or a function of the sum.

#include <limits>

#include "core/ops/reductions/reduction.h"

namespace tenon::ops {
namespace {

using Attrs = ReduceAttrs;

// Constraints.
//   C1  x is numeric; for log_sum floating point.
//   C2  the axes are axes of x; see reduction.h.
TensorTypes infer_numeric(const Attrs& attrs, TypeSpan in) {
  require(is_numeric(in[0].dtype), "C1: x must be numeric, but is {}: convert it with cast",
          in[0].dtype);
  return infer_reduced(attrs, in[0]);
}

Tensors l1_norm_decompose(const Attrs& attrs, TensorSpan in) { return {sum(abs(in[0]), attrs)}; }

// Integers wrap in any width, so only half types are widened.
Tensors sum_square_decompose(const Attrs& attrs, TensorSpan in) {
  const auto squares = [&](const Tensor& x) { return sum(square(x), attrs); };
  return {is_floating(in[0]->type.dtype) ? in_wide(in[0], squares) : squares(in[0])};
}

Tensors log_sum_decompose(const Attrs& attrs, TensorSpan in) {
  return {in_wide(in[0], [&](const Tensor& x) { return log(sum(x, attrs)); })};
}

// The numbers 1 to 6 in two rows.
CaseTensor matrix() { return f32({2, 3}, {1, 2, 3, 4, 5, 6}); }

// Returns the cases of one op, followed by the cases that all three ops share.
Cases<Attrs> with_shared_cases(Cases<Attrs> cases) {
  cases.push_back({.name = "outer_and_inner_axis",
                   .attrs = {.axes = {0, 2}},
                   .inputs = {uniform({3, 4, 5}, 0.5, 2)}});
  cases.push_back({.name = "no_results", .attrs = {.axes = {0}}, .inputs = {uniform({3, 0})}});
  cases.push_back({.name = "bool_is_not_numeric", .inputs = {boolean({1})}, .error = "C1"});
  cases.push_back(
      {.name = "axis_out_of_range", .attrs = {.axes = {2}}, .inputs = {matrix()}, .error = "C2"});
  cases.push_back(
      {.name = "axis_twice", .attrs = {.axes = {1, -1}}, .inputs = {matrix()}, .error = "C2"});
  return cases;
}

Cases<Attrs> l1_norm_cases() {
  return with_shared_cases({
      {.name = "example", .inputs = {f32({1, -2, 3})}, .expect = {f32({}, {6})}},
      {.name = "rows", .attrs = {.axes = {1}}, .inputs = {matrix()}, .expect = {f32({6, 15})}},
      {.name = "keepdims",
       .attrs = {.axes = {-2}, .keepdims = true},
       .inputs = {matrix()},
       .expect = {f32({1, 3}, {5, 7, 9})}},
      {.name = "integers", .inputs = {i32({-7, 5})}, .expect = {i32({}, {12})}},
      {.name = "halves_add_up_widely",
       .inputs = {f16({2048, -1, 1, 2})},
       .expect = {f16({}, {2052})}},
      {.name = "zeros_have_no_slope",
       .inputs = {f32({0, 0})},
       .expect = {f32({}, {0})},
       .check_gradient = false},
      {.name = "of_nothing",
       .attrs = {.axes = {1}},
       .inputs = {uniform({2, 0})},
       .expect = {f32({0, 0})}},
  });
}

Cases<Attrs> sum_square_cases() {
  return with_shared_cases({
      {.name = "example", .inputs = {f32({1, -2, 3})}, .expect = {f32({}, {14})}},
      {.name = "rows", .attrs = {.axes = {1}}, .inputs = {matrix()}, .expect = {f32({14, 77})}},
      {.name = "keepdims",
       .attrs = {.axes = {-2}, .keepdims = true},
       .inputs = {matrix()},
       .expect = {f32({1, 3}, {17, 29, 45})}},
      {.name = "integers_wrap", .inputs = {i8({12, 1})}, .expect = {i8({}, {-111})}},
      {.name = "halves_add_up_widely",
       .inputs = {f16({32, 32, 1, 1, 1})},
       .expect = {f16({}, {2052})}},
      {.name = "of_nothing",
       .attrs = {.axes = {1}},
       .inputs = {uniform({2, 0})},
       .expect = {f32({0, 0})}},
  });
}

Cases<Attrs> log_sum_cases() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return with_shared_cases({
      {.name = "example", .inputs = {f32({1, 2, 3})}, .expect = {f32({}, {1.791759469228055})}},
      {.name = "rows",
       .attrs = {.axes = {1}},
       .inputs = {matrix()},
       .expect = {f32({1.791759469228055, 2.70805020110221})}},
      {.name = "keepdims",
       .attrs = {.axes = {-2}, .keepdims = true},
       .inputs = {matrix()},
       .expect = {f32({1, 3}, {1.6094379124341003, 1.9459101490553132, 2.1972245773362196})}},
      {.name = "of_nothing",
       .attrs = {.axes = {1}},
       .inputs = {uniform({1, 0})},
       .expect = {f32({-kInf})}},
      {.name = "of_a_negative_sum", .inputs = {f32({1, -2})}, .expect = {f32({}, {kNaN})}},
      {.name = "halves_do_not_overflow",
       .inputs = {f16({60000, 60000})},
       .expect = {f16({}, {11.6953125})}},
      {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
  });
}

}  // namespace

OpDef l1_norm_def() {
  return define_reduction<Attrs>({
      .name = "l1_norm",
      .summary = "The L1 norm along some axes: the sum of the absolute values.",
      .formula = "y = sum(abs(x[i]))",
      .details = "The result for no elements is 0. The derivative at 0 is 0. Integers wrap in "
                 "their own dtype.",
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer_numeric,
      .decompose = l1_norm_decompose,
      .cases = l1_norm_cases,
      .numeric = Numeric::kAccumulation,
      .onnx = "ReduceL1",
  });
}

OpDef sum_square_def() {
  return define_reduction<Attrs>({
      .name = "sum_square",
      .summary = "The sum of the squares along some axes.",
      .formula = "y = sum(x[i]^2)",
      .details = "The result for no elements is 0. Integers wrap in their own dtype. f16 and bf16 "
                 "are computed in f32.",
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer_numeric,
      .decompose = sum_square_decompose,
      .cases = sum_square_cases,
      .numeric = Numeric::kAccumulation,
      .onnx = "ReduceSumSquare",
  });
}

OpDef log_sum_def() {
  return define_reduction<Attrs>({
      .name = "log_sum",
      .summary = "The logarithm of the sum along some axes.",
      .formula = "y = log(sum(x[i]))",
      .details = "The result is -inf for no elements and NaN for a negative sum. f16 and bf16 are "
                 "computed in f32.",
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer_reduced_floating,
      .decompose = log_sum_decompose,
      .cases = log_sum_cases,
      .numeric = Numeric::kComposite,
      .onnx = "ReduceLogSum",
  });
}

}  // namespace tenon::ops
