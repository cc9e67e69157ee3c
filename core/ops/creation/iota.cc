// iota: the numbers 0, 1, 2, ... along one axis.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  dtype is numeric.
//   C2  the sizes of `shape` are not negative, and the result has at most 2^62 bytes.
//   C3  -rank <= axis < rank, where rank is the length of `shape`.
TensorTypes infer(const IotaAttrs& attrs, TypeSpan) {
  require(is_numeric(attrs.dtype), "C1: dtype must be numeric, but is {}", attrs.dtype);
  const TensorType y = require_sizes(attrs.dtype, attrs.shape, "C2");
  require_axis(attrs.axis, y.rank(), "C3");
  return {y};
}

Cases<IotaAttrs> cases() {
  return {
      {.name = "example", .attrs = {.shape = {4}}, .expect = {i64({0, 1, 2, 3})}},
      {.name = "first_axis",
       .attrs = {.shape = {2, 3}, .dtype = DType::kF32, .axis = 0},
       .expect = {f32({2, 3}, {0, 0, 0, 1, 1, 1})}},
      {.name = "last_axis",
       .attrs = {.shape = {2, 3}, .dtype = DType::kF32, .axis = -1},
       .expect = {f32({2, 3}, {0, 1, 2, 0, 1, 2})}},
      {.name = "u8", .attrs = {.shape = {3}, .dtype = DType::kU8}, .expect = {u8({0, 1, 2})}},
      {.name = "f16", .attrs = {.shape = {3}, .dtype = DType::kF16}, .expect = {f16({0, 1, 2})}},
      {.name = "no_elements", .attrs = {.shape = {0}}, .expect = {i64({0}, {})}},
      {.name = "bool_does_not_count",
       .attrs = {.shape = {2}, .dtype = DType::kBool},
       .error = "C1"},
      {.name = "negative_size", .attrs = {.shape = {-2}}, .error = "C2"},
      {.name = "axis_out_of_range", .attrs = {.shape = {2}, .axis = 1}, .error = "C3"},
      {.name = "rank_0_has_no_axis", .attrs = {}, .error = "C3"},
  };
}

}  // namespace

OpDef iota_def() {
  return define<IotaAttrs>({
      .name = "iota",
      .summary = "The numbers 0, 1, 2, ... along one axis.",
      .formula = "y[i] = i[axis]",
      .details = "Numbers that the dtype cannot represent wrap around, or are rounded if it is "
                 "floating point.",
      .outputs = {{"y", "the numbers"}},
      .attrs_doc =
          {{"shape", "The shape of the result."},
           {"dtype", "The dtype of the result."},
           {"axis",
            "The axis along which the numbers increase; negative values count from the end."}},
      .infer = infer,
      .cases = cases,
      .sparse_output = true,
      .no_gradient = "it has no inputs",
      .onnx = "Range",
  });
}

}  // namespace tenon::ops
