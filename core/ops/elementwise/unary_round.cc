// Elementwise ops of one input: rounding; tests for NaN, infinity and sign; logical_not and
// bitwise_not.
//
// Constraints:
//   C1  x is floating point (logical_not: bool; bitwise_not: an integer or bool).
//   y has x's shape and dtype; the dtype of the tests is bool.

#include <limits>

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

using None = NoAttrs;

// Defines a rounding op after setting the fields that all of these ops share.
OpDef define_rounding(Definition<NoAttrs> d) {
  d.infer = infer_floating;
  d.vjp = no_gradients;
  d.sparse_output = true;
  return define_unary(std::move(d));
}

// Defines an op that tests each element: isnan, isinf, isfinite or signbit.
OpDef define_test(Definition<NoAttrs> d) {
  d.infer = infer_floating_to_bool;
  d.sparse_output = true;
  d.no_gradient = "its result is bool";
  return define_unary(std::move(d));
}

// Returns the cases of a rounding op. `expect` is its result for -1.5, -0.5, 0.5, 1.5, 2.5 and
// 2.75.
Cases<None> rounding_cases(CaseTensor expect) {
  return {
      {.name = "example",
       .inputs = {f32({-1.5, -0.5, 0.5, 1.5, 2.5, 2.75})},
       .expect = {expect},
       .check_gradient = false},
      {.name = "numbers_without_fraction_stay",
       .inputs = {f32({-16777216, 3, 1e30})},
       .expect = {f32({-16777216, 3, 1e30})},
       .check_gradient = false},
      {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
  };
}

// Returns the cases of an op that tests each element. `expect` is its result for 0, infinity,
// -infinity and NaN.
Cases<None> test_cases(CaseTensor expect) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return {
      {.name = "example", .inputs = {f32({0, kInf, -kInf, kNaN})}, .expect = {expect}},
      {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
  };
}

// x - x is 0 for finite numbers and NaN for all others.
Tensors isfinite_decompose(const None&, TensorSpan in) {
  return {logical_not(isnan(in[0] - in[0]))};
}

// Takes the sign by copysign(1, x), because comparing x with 0 would not detect -0.
Tensors signbit_decompose(const None&, TensorSpan in) {
  return {less(copysign(number(1), in[0]), number(0))};
}

}  // namespace

OpDef floor_def() {
  return define_rounding({
      .name = "floor",
      .summary = "The largest integer not greater than each element.",
      .formula = "y = floor(x)",
      .details = "The derivative is 0 everywhere.",
      .cases =
          [] {
            return rounding_cases(f32({-2, -1, 0, 1, 2, 2}));
          },
      .onnx = "Floor",
  });
}

OpDef ceil_def() {
  return define_rounding({
      .name = "ceil",
      .summary = "The smallest integer not less than each element.",
      .formula = "y = ceil(x)",
      .details = "The derivative is 0 everywhere.",
      .cases =
          [] {
            return rounding_cases(f32({-1, -0.0, 1, 2, 3, 3}));
          },
      .onnx = "Ceil",
  });
}

OpDef round_def() {
  return define_rounding({
      .name = "round",
      .summary = "The integer nearest to each element.",
      .formula = "y = round(x)",
      .details = "Halfway cases are rounded to even. The derivative is 0 everywhere.",
      .cases =
          [] {
            return rounding_cases(f32({-2, -0.0, 0, 2, 2, 3}));
          },
      .onnx = "Round",
  });
}

OpDef trunc_def() {
  return define_rounding({
      .name = "trunc",
      .summary = "Each element rounded towards zero.",
      .formula = "y = sign(x) * floor(|x|)",
      .details = "The derivative is 0 everywhere.",
      .cases =
          [] {
            return rounding_cases(f32({-1, -0.0, 0, 1, 2, 2}));
          },
  });
}

OpDef isnan_def() {
  return define_test({
      .name = "isnan",
      .summary = "Whether each element is NaN.",
      .formula = "y = x is NaN",
      .cases =
          [] {
            return test_cases(boolean({0, 0, 0, 1}));
          },
      .onnx = "IsNaN",
  });
}

OpDef isinf_def() {
  return define_test({
      .name = "isinf",
      .summary = "Whether each element is infinite.",
      .formula = "y = |x| is infinity",
      .cases =
          [] {
            return test_cases(boolean({0, 1, 1, 0}));
          },
      .onnx = "IsInf",
  });
}

OpDef isfinite_def() {
  return define_test({
      .name = "isfinite",
      .summary = "Whether each element is neither infinite nor NaN.",
      .formula = "y = |x| < infinity",
      .decompose = isfinite_decompose,
      .cases =
          [] {
            return test_cases(boolean({1, 0, 0, 0}));
          },
  });
}

OpDef signbit_def() {
  return define_test({
      .name = "signbit",
      .summary = "Whether the sign bit of each element is set, as it is for -0.",
      .formula = "y = the sign bit of x",
      .decompose = signbit_decompose,
      .cases =
          [] {
            constexpr double kInf = std::numeric_limits<double>::infinity();
            return Cases<None>{
                {.name = "example",
                 .inputs = {f32({1, -1, 0, -0.0, kInf, -kInf})},
                 .expect = {boolean({0, 1, 0, 1, 0, 1})}},
                {.name = "no_elements",
                 .inputs = {uniform({0, 3})},
                 .expect = {boolean({0, 3}, {})}},
                {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
            };
          },
  });
}

OpDef logical_not_def() {
  return define_unary({
      .name = "logical_not",
      .summary = "Whether each element is false.",
      .formula = "y = not x",
      .infer = infer_bool,
      .cases =
          [] {
            return Cases<None>{
                {.name = "example", .inputs = {boolean({0, 1})}, .expect = {boolean({1, 0})}},
                {.name = "integer_is_not_bool", .inputs = {u8({1})}, .error = "C1"},
            };
          },
      .sparse_output = true,
      .no_gradient = "its result is bool",
      .onnx = "Not",
  });
}

OpDef bitwise_not_def() {
  return define_unary({
      .name = "bitwise_not",
      .summary = "The bitwise complement of each element.",
      .formula = "y = ~x",
      .details = "For bool it is the same as logical_not.",
      .infer = infer_integer_or_bool,
      .cases =
          [] {
            return Cases<None>{
                {.name = "example", .inputs = {i32({0, 5, -1})}, .expect = {i32({-1, -6, 0})}},
                {.name = "unsigned", .inputs = {u8({0, 15})}, .expect = {u8({255, 240})}},
                {.name = "bool", .inputs = {boolean({0, 1})}, .expect = {boolean({1, 0})}},
                {.name = "float_has_no_bits", .inputs = {f32({1})}, .error = "C1"},
            };
          },
      .no_gradient = "its result is an integer",
      .onnx = "BitwiseNot",
  });
}

}  // namespace tenon::ops
