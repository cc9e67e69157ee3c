// Elementwise logical ops on bool, bitwise ops on integers, and shifts.
//
// Constraints:
//   C1  a and b are bool (logical), integers or bool (bitwise), integers (shifts).
//   C2  a and b broadcast.
//   y has their common dtype and the shape that they broadcast to.

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

using None = NoAttrs;

// Defines a logical op after setting the fields that all of these ops share.
OpDef define_logical(Definition<NoAttrs> d) {
  d.infer = infer_bool;
  d.sparse_output = true;
  d.no_gradient = "its result is bool";
  return define_binary(std::move(d));
}

// Defines a bitwise op after setting the fields that all of these ops share.
OpDef define_bitwise(Definition<NoAttrs> d) {
  d.infer = infer_integer_or_bool;
  d.sparse_output = true;
  d.no_gradient = "its result is an integer";
  return define_binary(std::move(d));
}

// Defines a shift after setting the fields that all of these ops share.
OpDef define_shift(Definition<NoAttrs> d) {
  d.infer = infer_integer;
  d.sparse_output = true;
  d.no_gradient = "its result is an integer";
  return define_binary(std::move(d));
}

Case<None> broadcast_error_case() {
  return {.name = "shapes_that_do_not_broadcast",
          .inputs = {boolean({1, 0}), boolean({1, 0, 1})},
          .error = "C2"};
}

// `truth` holds the results for (0,0), (0,1), (1,0) and (1,1).
Cases<None> logical_cases(std::initializer_list<double> truth) {
  return {
      {.name = "example",
       .inputs = {boolean({0, 0, 1, 1}), boolean({0, 1, 0, 1})},
       .expect = {boolean(truth)}},
      {.name = "broadcast",
       .inputs = {boolean({2, 1}, {0, 1}), boolean({0, 1})},
       .expect = {boolean({2, 2}, truth)}},
      {.name = "integer_is_not_bool", .inputs = {u8({1}), u8({1})}, .error = "C1"},
      broadcast_error_case(),
  };
}

// `of_12_and_10` and `of_minus_1_and_5` are the expected results for these pairs of integers.
Cases<None> bitwise_cases(double of_12_and_10, double of_minus_1_and_5,
                          std::initializer_list<double> truth) {
  return {
      {.name = "example",
       .inputs = {i32({12, -1}), i32({10, 5})},
       .expect = {i32({of_12_and_10, of_minus_1_and_5})}},
      {.name = "bool",
       .inputs = {boolean({0, 0, 1, 1}), boolean({0, 1, 0, 1})},
       .expect = {boolean(truth)}},
      {.name = "float_has_no_bits", .inputs = {f32({1}), f32({1})}, .error = "C1"},
      broadcast_error_case(),
  };
}

// Returns the cases of one shift, followed by the errors that both shifts have in common.
Cases<None> with_shift_errors(Cases<None> cases) {
  cases.push_back(
      {.name = "bool_is_not_an_integer", .inputs = {boolean({1}), boolean({1})}, .error = "C1"});
  cases.push_back({.name = "shapes_that_do_not_broadcast",
                   .inputs = {i32({1, 0}), i32({1, 0, 1})},
                   .error = "C2"});
  return cases;
}

}  // namespace

OpDef logical_and_def() {
  return define_logical({
      .name = "logical_and",
      .summary = "Whether both elements are true.",
      .formula = "y = a and b",
      .cases =
          [] {
            return logical_cases({0, 0, 0, 1});
          },
      .onnx = "And",
  });
}

OpDef logical_or_def() {
  return define_logical({
      .name = "logical_or",
      .summary = "Whether at least one of two elements is true.",
      .formula = "y = a or b",
      .cases =
          [] {
            return logical_cases({0, 1, 1, 1});
          },
      .onnx = "Or",
  });
}

OpDef logical_xor_def() {
  return define_logical({
      .name = "logical_xor",
      .summary = "Whether exactly one of two elements is true.",
      .formula = "y = a != b",
      .cases =
          [] {
            return logical_cases({0, 1, 1, 0});
          },
      .onnx = "Xor",
  });
}

OpDef bitwise_and_def() {
  return define_bitwise({
      .name = "bitwise_and",
      .summary = "The bits that are set in both elements.",
      .formula = "y = a & b",
      .details = "On bool, this is logical_and.",
      .cases =
          [] {
            return bitwise_cases(8, 5, {0, 0, 0, 1});
          },
      .onnx = "BitwiseAnd",
  });
}

OpDef bitwise_or_def() {
  return define_bitwise({
      .name = "bitwise_or",
      .summary = "The bits that are set in at least one of two elements.",
      .formula = "y = a | b",
      .details = "On bool, this is logical_or.",
      .cases =
          [] {
            return bitwise_cases(14, -1, {0, 1, 1, 1});
          },
      .onnx = "BitwiseOr",
  });
}

OpDef bitwise_xor_def() {
  return define_bitwise({
      .name = "bitwise_xor",
      .summary = "The bits that are set in exactly one of two elements.",
      .formula = "y = a ^ b",
      .details = "On bool, this is logical_xor.",
      .cases =
          [] {
            return bitwise_cases(6, -6, {0, 1, 1, 0});
          },
      .onnx = "BitwiseXor",
  });
}

OpDef shift_left_def() {
  return define_shift({
      .name = "shift_left",
      .summary = "The bits of a, shifted left by b.",
      .formula = "y = a * 2^b",
      .details = "Bits that are shifted out are lost. The result is 0 if b is negative or at least "
                 "the bit width.",
      .cases =
          [] {
            return with_shift_errors({
                {.name = "example",
                 .inputs = {i32({1, 3, -1, 5}), i32({4, 1, 31, 0})},
                 .expect = {i32({16, 6, -2147483648.0, 5})}},
                {.name = "beyond_the_width",
                 .inputs = {u8({255, 255, 255}), u8({7, 8, 200})},
                 .expect = {u8({128, 0, 0})}},
            });
          },
  });
}

OpDef shift_right_def() {
  return define_shift({
      .name = "shift_right",
      .summary = "The bits of a, shifted right by b.",
      .formula = "y = floor(a / 2^b)",
      .details = "Copies of the sign bit are shifted in, or zeros if a is unsigned. If b is "
                 "negative or at least the bit width, the result is 0, or -1 for negative a.",
      .cases =
          [] {
            return with_shift_errors({
                {.name = "example",
                 .inputs = {i32({16, -16, -1}), i32({4, 2, 31})},
                 .expect = {i32({1, -4, -1})}},
                {.name = "beyond_the_width",
                 .inputs = {i8({127, -128}), i8({8, 100})},
                 .expect = {i8({0, -1})}},
                {.name = "unsigned",
                 .inputs = {u8({255, 255, 255}), u8({7, 8, 200})},
                 .expect = {u8({1, 0, 0})}},
            });
          },
  });
}

}  // namespace tenon::ops
