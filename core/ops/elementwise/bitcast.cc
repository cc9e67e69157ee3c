// bitcast: reinterprets the bits as another dtype.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = BitcastAttrs;

// Constraints.
//   C1  dtype is given, and is bool only if x is.
//   C2  if the widths differ, x has an axis, and the bytes of its last axis are a whole number of
//       elements of dtype.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(attrs.dtype != DType::kNone, "C1: dtype must be given");
  require(attrs.dtype != DType::kBool || x.dtype == DType::kBool,
          "C1: {} cannot be bitcast to bool; compare x with 0 instead", x.dtype);
  TensorType y(attrs.dtype, x.shape);
  const auto from = static_cast<int64_t>(size_of(x.dtype));
  const auto to = static_cast<int64_t>(size_of(attrs.dtype));
  if (from == to) return {y};
  require(x.rank() > 0, "C2: x must have an axis to change the width of its dtype, but is {}", x);
  Size& last = y.shape[x.rank() - 1];
  require(last * from % to == 0,
          "C2: the bytes of the last axis of x: {} must be a multiple of the width of {}", x,
          attrs.dtype);
  last = last * from / to;
  return {y};
}

// Strides and offsets are in elements, so they are rescaled if the element size changes. Returns
// false if a rescaled stride or offset is not an integer.
bool view(const Attrs&, size_t, const TensorType& type, const TensorType& in_type,
          const StridedLayout& in, StridedLayout& out) {
  const auto from = static_cast<int64_t>(size_of(in_type.dtype));
  const auto to = static_cast<int64_t>(size_of(type.dtype));
  out = in;
  if (from == to || count(type.shape) == 0) return true;
  const size_t last = type.rank() - 1;
  if (in.strides[last] != 1 && in_type.shape[last] != 1) return false;
  const auto rescale = [&](auto& elements) {
    const bool ok = elements * from % to == 0;
    elements = elements * from / to;
    return ok;
  };
  bool ok = rescale(out.offset);
  for (size_t i = 0; i < last; ++i) ok = rescale(out.strides[i]) && ok;
  out.strides[last] = 1;
  return ok;
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .attrs = {.dtype = DType::kU32},
       .inputs = {f32({1, -2, 0})},
       .expect = {u32({0x3f800000, 0xc0000000, 0})}},
      {.name = "to_float",
       .attrs = {.dtype = DType::kF16},
       .inputs = {u16({0x3c00, 0xc000})},
       .expect = {f16({1, -2})}},
      {.name = "sign", .attrs = {.dtype = DType::kI8}, .inputs = {u8({255})}, .expect = {i8({-1})}},
      {.name = "narrower",
       .attrs = {.dtype = DType::kU16},
       .inputs = {u32({1, 2}, {0x00020001, 0x00040003})},
       .expect = {u16({1, 4}, {1, 2, 3, 4})}},
      {.name = "wider",
       .attrs = {.dtype = DType::kU32},
       .inputs = {u16({2, 2}, {1, 2, 3, 4})},
       .expect = {u32({2, 1}, {0x00020001, 0x00040003})}},
      {.name = "bool_to_bytes",
       .attrs = {.dtype = DType::kU8},
       .inputs = {boolean({1, 0})},
       .expect = {u8({1, 0})}},
      {.name = "rank_0",
       .attrs = {.dtype = DType::kI32},
       .inputs = {f32({}, {1})},
       .expect = {i32({}, {0x3f800000})}},
      {.name = "no_elements",
       .attrs = {.dtype = DType::kI16},
       .inputs = {uniform({2, 0})},
       .expect = {i16({2, 0}, {})}},
      {.name = "no_dtype", .inputs = {f32({1})}, .error = "C1"},
      {.name = "to_bool", .attrs = {.dtype = DType::kBool}, .inputs = {u8({1})}, .error = "C1"},
      {.name = "rank_0_to_another_width",
       .attrs = {.dtype = DType::kI16},
       .inputs = {f32({}, {1})},
       .error = "C2"},
      {.name = "last_axis_does_not_fit",
       .attrs = {.dtype = DType::kI64},
       .inputs = {uniform({2, 3})},
       .error = "C2"},
  };
}

}  // namespace

OpDef bitcast_def() {
  return define<Attrs>({
      .name = "bitcast",
      .summary = "The bits of a tensor reinterpreted as another dtype.",
      .formula = "y = the elements whose bytes are those of x",
      .details = "If the widths of the dtypes differ, the size of the last axis changes. Bytes are "
                 "in little-endian order.",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "a view of the bytes of x"}},
      .attrs_doc = {{"dtype", "The dtype of the result."}},
      .infer = infer,
      .view = view,
      .cases = cases,
      .no_gradient = "bits are not numbers",
  });
}

}  // namespace tenon::ops
