// nonzero: returns the indices of the nonzero elements.

#include <limits>

#include "core/ops/definition/data_dependent_sizes.h"

namespace tenon::ops {
namespace {

using Attrs = NonzeroAttrs;

// Constraints.
//   C1  size is -1 or not negative.
//   C2  the result has at most 2^62 bytes.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require_size(attrs.size, "C1");
  const Size size = has_size(attrs.size) ? attrs.size : count(x.shape);
  const TensorType indices(DType::kI64, {static_cast<int64_t>(x.rank()), size});
  check_size(indices);
  return {indices, TensorType(DType::kI64, {})};
}

// Decomposition with a given `size`, for devices without a kernel. A cumulative sum gives each
// nonzero element its position in the result. The element's row-major index is written there, and
// then split into coordinates.
Tensors decompose_sized(const Attrs& attrs, const Tensor& x) {
  const Dims& shape = x->shape();
  const DType dtype = x->type.dtype;
  const Size n = count(shape);
  const Tensor as_bool = dtype == DType::kBool ? x : not_equal(x, number_of(dtype, 0));
  const Tensor is_nonzero = reshape(as_bool, {n});
  const Tensor found = cast(is_nonzero, DType::kI64);
  const Tensor place = sub(cumsum(found, {}), integer(1));
  const Tensor has_room = logical_and(is_nonzero, less(place, integer(attrs.size)));
  const Tensor or_behind = where(has_room, place, integer(attrs.size));
  const Tensor written = scatter_elements(zeros(TensorType(DType::kI64, {attrs.size + 1})),
                                          or_behind, iota({n}, DType::kI64, 0), {});
  const Tensor n_found = sum(found);

  Tensor rest = slice(written, {.starts = {0}, .ends = {attrs.size}});
  const Tensor is_found = less(iota({attrs.size}, DType::kI64, 0), n_found);
  Tensors rows(shape.rank(), Tensor());
  for (size_t axis = shape.rank(); axis-- > 0;) {
    const Tensor index = where(is_found, mod(rest, integer(shape[axis])), integer(attrs.fill));
    rows[axis] = reshape(index, {1, attrs.size});
    rest = floor_div(rest, integer(shape[axis]));
  }
  if (rows.empty()) return {zeros(TensorType(DType::kI64, {0, attrs.size})), n_found};
  return {concat(rows, 0), n_found};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  if (has_size(attrs.size)) return decompose_sized(attrs, in[0]);
  const Tensors found = nonzero(in[0], {.size = count(in[0]->shape())});
  return {cut(found[0], read_size(found[1], count(in[0]->shape())), 1), found[1]};
}

Cases<Attrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const CaseTensor x = f32({2, 3}, {1, 0, 2, 0, 0, 3});
  return {
      {.name = "example",
       .inputs = {x},
       .expect = {i64({2, 3}, {0, 0, 1, 0, 2, 2}), i64({}, {3})},
       .n_outputs = 2},
      {.name = "room_is_filled",
       .attrs = {.size = 5, .fill = -1},
       .inputs = {x},
       .expect = {i64({2, 5}, {0, 0, 1, -1, -1, 0, 2, 2, -1, -1}), i64({}, {3})},
       .n_outputs = 2},
      {.name = "no_room_for_all",
       .attrs = {.size = 2},
       .inputs = {x},
       .expect = {i64({2, 2}, {0, 0, 0, 2}), i64({}, {3})},
       .n_outputs = 2},
      {.name = "no_room",
       .attrs = {.size = 0},
       .inputs = {x},
       .expect = {i64({2, 0}, {}), i64({}, {3})},
       .n_outputs = 2},
      {.name = "nan_is_not_zero_and_minus_zero_is",
       .inputs = {f16({kNaN, -0.0, 0, 1e-7})},
       .expect = {i64({1, 2}, {0, 3}), i64({}, {2})},
       .n_outputs = 2},
      {.name = "bool",
       .inputs = {boolean({0, 1, 1})},
       .expect = {i64({1, 2}, {1, 2}), i64({}, {2})},
       .n_outputs = 2},
      {.name = "all",
       .inputs = {u8({7, 7})},
       .expect = {i64({1, 2}, {0, 1}), i64({}, {2})},
       .n_outputs = 2},
      {.name = "none",
       .inputs = {i32({2, 2}, {0, 0, 0, 0})},
       .expect = {i64({2, 0}, {}), i64({}, {0})},
       .n_outputs = 2},
      {.name = "rank_0",
       .inputs = {f32({}, {5})},
       .expect = {i64({0, 1}, {}), i64({}, {1})},
       .n_outputs = 2},
      {.name = "no_elements",
       .attrs = {.size = 2, .fill = 7},
       .inputs = {uniform({0, 3})},
       .expect = {i64({2, 2}, {7, 7, 7, 7}), i64({}, {0})},
       .n_outputs = 2},
      {.name = "drawn", .inputs = {uniform({3, 1, 5, 4}, 0, 2, DType::kI64)}, .n_outputs = 2},
      {.name = "many",
       .attrs = {.size = 30000},
       .inputs = {uniform({300, 200}, 0, 2, DType::kI8)},
       .n_outputs = 2},
      {.name = "negative_size", .attrs = {.size = -2}, .inputs = {x}, .error = "C1"},
      {.name = "too_large",
       .attrs = {.size = int64_t{1} << 61},
       .inputs = {x},
       .error = "a size in bytes that exceeds int64"},
  };
}

}  // namespace

OpDef nonzero_def() {
  return define<Attrs>({
      .name = "nonzero",
      .summary = "The indices of all nonzero elements.",
      .formula = "x[indices[0, i], indices[1, i], ...] != 0",
      .details =
          "The elements are in row-major order. NaN is nonzero, and -0 is zero. With `size`, "
          "nonzero elements beyond that number are omitted from indices, but count includes them. "
          "Without `size`, the inferred type is the largest that the result can have.",
      .inputs = {{"x", "the input, of any dtype"}},
      .outputs = {{"indices", "int64[rank(x), size]: one column for each nonzero element"},
                  {"count", "the number of nonzero elements"}},
      .attrs_doc = {kSizeDoc, {"fill", "The value that fills unused columns of indices."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .sparse_output = true,
      .no_gradient = "its results are integers",
      .onnx = "NonZero",
  });
}

}  // namespace tenon::ops
