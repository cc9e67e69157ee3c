// fill: a tensor filled with one value.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  value has rank 0.
//   C2  the sizes of `shape` are not negative, and the result has at most 2^62 bytes.
//   The result has `dtype`, or that of value if none is given; the core casts value to it first.
TensorTypes infer(const FillAttrs& attrs, TypeSpan in) {
  require(in[0].rank() == 0, "C1: value must have rank 0, but is {}", in[0]);
  const DType dtype = attrs.dtype == DType::kNone ? in[0].dtype : attrs.dtype;
  return {require_sizes(dtype, attrs.shape, "C2")};
}

Tensors vjp(const FillAttrs&, const VjpArgs& v) {
  return {cast(sum(v.cotangent(0)), v.input_type(0).dtype)};
}

Cases<FillAttrs> cases() {
  return {
      {.name = "example",
       .attrs = {.shape = {2, 2}},
       .inputs = {f32({}, {1.5})},
       .expect = {f32({2, 2}, {1.5, 1.5, 1.5, 1.5})}},
      {.name = "scalar_with_dtype",
       .attrs = {.shape = {3}, .dtype = DType::kI8},
       .inputs = {scalar_int(-7)},
       .expect = {i8({-7, -7, -7})}},
      {.name = "bool",
       .attrs = {.shape = {2}},
       .inputs = {boolean({}, {1})},
       .expect = {boolean({1, 1})}},
      {.name = "rank_0", .inputs = {f64({}, {2})}, .expect = {f64({}, {2})}},
      {.name = "no_elements",
       .attrs = {.shape = {0, 3}},
       .inputs = {f32({}, {1})},
       .expect = {f32({0, 3}, {})}},
      {.name = "value_has_an_axis", .attrs = {.shape = {2}}, .inputs = {f32({1})}, .error = "C1"},
      {.name = "negative_size", .attrs = {.shape = {-1}}, .inputs = {f32({}, {1})}, .error = "C2"},
      {.name = "too_many_elements",
       .attrs = {.shape = {1ll << 40, 1ll << 40}},
       .inputs = {f32({}, {1})},
       .error = "bytes"},
  };
}

}  // namespace

OpDef fill_def() {
  return define<FillAttrs>({
      .name = "fill",
      .summary = "A tensor filled with one value.",
      .formula = "result[i] = value",
      .inputs = {{"value", "the value, of rank 0"}},
      .outputs = {{"result", "the filled tensor"}},
      .attrs_doc = {{"shape", "The shape of the result."},
                    {"dtype", "The dtype of the result; none for that of value."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .promotes = Promotes::kToOutput,
      .onnx = "ConstantOfShape",
  });
}

}  // namespace tenon::ops
