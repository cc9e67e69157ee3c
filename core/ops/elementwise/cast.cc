// cast: converts elements to another dtype.

#include <limits>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = CastAttrs;

// Constraints.
//   C1  to is given.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require(attrs.to != DType::kNone, "C1: to must be given");
  return {TensorType(attrs.to, in[0].shape)};
}

Tensors vjp(const Attrs&, const VjpArgs& v) {
  return {cast(v.cotangent(0), v.input_type(0).dtype)};
}

Cases<Attrs> cases() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return {
      {.name = "example",
       .attrs = {.to = DType::kI32},
       .inputs = {f32({1.75, -1.75, 0})},
       .expect = {i32({1, -1, 0})}},
      {.name = "float_to_integer_saturates",
       .attrs = {.to = DType::kI8},
       .inputs = {f32({300, -300, kInf, -kInf, kNaN})},
       .expect = {i8({127, -128, 127, -128, 0})}},
      {.name = "float_to_unsigned_saturates",
       .attrs = {.to = DType::kU8},
       .inputs = {f32({-1, 255.9, 256})},
       .expect = {u8({0, 255, 255})}},
      {.name = "integers_wrap",
       .attrs = {.to = DType::kI8},
       .inputs = {i32({128, -129, 257})},
       .expect = {i8({-128, 127, 1})}},
      {.name = "signed_to_unsigned_wraps",
       .attrs = {.to = DType::kU16},
       .inputs = {i32({-1})},
       .expect = {u16({65535})}},
      {.name = "to_half_rounds_ties_to_even",
       .attrs = {.to = DType::kF16},
       .inputs = {f32({2049, 2051, 65519, 65520, 0.1})},
       .expect = {f16({2048, 2052, 65504, kInf, 0.0999755859375})}},
      {.name = "double_to_half_rounds_once",
       .attrs = {.to = DType::kF16},
       .inputs = {f64({1.00048828125 + 1e-12})},
       .expect = {f16({1.0009765625})}},
      {.name = "to_bfloat16_rounds_ties_to_even",
       .attrs = {.to = DType::kBF16},
       .inputs = {f32({257, 259, 0.1})},
       .expect = {bf16({256, 260, 0.10009765625})}},
      {.name = "double_to_float",
       .attrs = {.to = DType::kF32},
       .inputs = {f64({16777217, 16777219, 1e300})},
       .expect = {f32({16777216, 16777220, kInf})},
       .check_gradient = false},
      {.name = "integer_to_float_rounds",
       .attrs = {.to = DType::kF32},
       .inputs = {i64({16777217, -3})},
       .expect = {f32({16777216, -3})}},
      {.name = "saturate_has_no_effect",
       .attrs = {.to = DType::kF16, .saturate = true},
       .inputs = {f32({1e6, -1e6, 1})},
       .expect = {f16({kInf, -kInf, 1})}},
      {.name = "without_saturate",
       .attrs = {.to = DType::kI8, .saturate = false},
       .inputs = {f32({300, -300, 1})},
       .expect = {i8({127, -128, 1})}},
      {.name = "to_bool_is_not_zero",
       .attrs = {.to = DType::kBool},
       .inputs = {f32({0, -0.0, 0.5, kNaN})},
       .expect = {boolean({0, 0, 1, 1})}},
      {.name = "from_bool",
       .attrs = {.to = DType::kF32},
       .inputs = {boolean({0, 1})},
       .expect = {f32({0, 1})}},
      {.name = "rank_0",
       .attrs = {.to = DType::kF64},
       .inputs = {f32({}, {0.5})},
       .expect = {f64({}, {0.5})}},
      {.name = "no_elements",
       .attrs = {.to = DType::kI64},
       .inputs = {uniform({0, 2})},
       .expect = {i64({0, 2}, {})}},
      {.name = "no_dtype", .inputs = {f32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef cast_def() {
  return define<Attrs>({
      .name = "cast",
      .summary = "The input converted to another dtype.",
      .formula = "y = x, converted to the dtype",
      .details =
          "To floating point: rounds to the nearest value, ties to even. From floating point to "
          "integer: truncates toward zero and saturates; NaN gives 0. Between integers: wraps "
          "around. To bool: true if the value is not 0. docs/numerics.md has the rules for storage "
          "dtypes.",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the converted elements"}},
      .attrs_doc = {{"to", "The dtype of the result."},
                    {"saturate",
                     "Whether numbers beyond the range of a storage dtype with floats become its "
                     "largest value, instead of infinity or NaN; no effect on other dtypes."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .storage = StorageUse::kConverts,
      .onnx = "Cast",
  });
}

}  // namespace tenon::ops
