// Elementwise comparisons of two inputs.
//
// Constraints:
//   C1  a and b are numeric; equal and not_equal also accept bool.
//   C2  a and b can be broadcast to a common shape.
//   y is bool and has the shape that a and b broadcast to.
// NaN is not equal to anything, including itself.

#include <limits>

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

using None = NoAttrs;

// Defines a comparison after setting the fields that all of these ops share.
OpDef define_comparison(Definition<NoAttrs> d) {
  d.sparse_output = true;
  d.no_gradient = "its result is bool";
  return define_binary(std::move(d));
}

// Cases of one comparison. `smaller`, `same` and `larger` are its results for a < b, a == b and a >
// b; `nan` is its result for NaN operands.
Cases<None> comparison_cases(double smaller, double same, double larger, double nan) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return {
      {.name = "example",
       .inputs = {f32({1, 2, 3, 0.0}), f32({2, 2, 2, -0.0})},
       .expect = {boolean({smaller, same, larger, same})}},
      {.name = "integers",
       .inputs = {i64({-9007199254740992, 5, 9007199254740992}),
                  i64({-9007199254740991, 5, 9007199254740991})},
       .expect = {boolean({smaller, same, larger})}},
      {.name = "unsigned",
       .inputs = {u8({1, 200}), u8({255, 200})},
       .expect = {boolean({smaller, same})}},
      {.name = "nan",
       .inputs = {f32({kNaN, 1, kNaN}), f32({1, kNaN, kNaN})},
       .expect = {boolean({nan, nan, nan})}},
      {.name = "broadcast",
       .inputs = {f32({2, 1}, {1, 3}), f32({1, 2})},
       .expect = {boolean({2, 2}, {same, smaller, larger, larger})}},
      {.name = "no_elements", .inputs = {uniform({0, 3}), uniform({3})}},
      {.name = "shapes_that_do_not_broadcast",
       .inputs = {uniform({2, 3}), uniform({2})},
       .error = "C2"},
  };
}

// Cases of an ordering such as less, which is false for NaN and refuses bool.
Cases<None> order_cases(double smaller, double same, double larger) {
  Cases<None> cases = comparison_cases(smaller, same, larger, 0);
  cases.push_back(
      {.name = "bool_has_no_order", .inputs = {boolean({1}), boolean({0})}, .error = "C1"});
  return cases;
}

// Cases of equal and not_equal. `same` is the result for equal operands: 1 or 0.
Cases<None> equality_cases(double same) {
  const double differs = 1 - same;
  Cases<None> cases = comparison_cases(differs, same, differs, differs);
  cases.push_back({.name = "bool",
                   .inputs = {boolean({0, 1}), boolean({1, 1})},
                   .expect = {boolean({differs, same})}});
  return cases;
}

}  // namespace

OpDef equal_def() {
  return define_comparison({
      .name = "equal",
      .summary = "Whether a equals b, element by element.",
      .formula = "y = a == b",
      .infer = infer_any_to_bool,
      .cases = [] { return equality_cases(1); },
      .onnx = "Equal",
  });
}

OpDef not_equal_def() {
  return define_comparison({
      .name = "not_equal",
      .summary = "Whether a differs from b, element by element.",
      .formula = "y = a != b",
      .infer = infer_any_to_bool,
      .cases = [] { return equality_cases(0); },
  });
}

OpDef less_def() {
  return define_comparison({
      .name = "less",
      .summary = "Whether a is less than b, element by element.",
      .formula = "y = a < b",
      .infer = infer_numeric_to_bool,
      .cases = [] { return order_cases(1, 0, 0); },
      .onnx = "Less",
  });
}

OpDef less_equal_def() {
  return define_comparison({
      .name = "less_equal",
      .summary = "Whether a is less than or equal to b, element by element.",
      .formula = "y = a <= b",
      .infer = infer_numeric_to_bool,
      .cases = [] { return order_cases(1, 1, 0); },
      .onnx = "LessOrEqual",
  });
}

OpDef greater_def() {
  return define_comparison({
      .name = "greater",
      .summary = "Whether a is greater than b, element by element.",
      .formula = "y = a > b",
      .infer = infer_numeric_to_bool,
      .cases = [] { return order_cases(0, 0, 1); },
      .onnx = "Greater",
  });
}

OpDef greater_equal_def() {
  return define_comparison({
      .name = "greater_equal",
      .summary = "Whether a is greater than or equal to b, element by element.",
      .formula = "y = a >= b",
      .infer = infer_numeric_to_bool,
      .cases = [] { return order_cases(0, 1, 1); },
      .onnx = "GreaterOrEqual",
  });
}

}  // namespace tenon::ops
