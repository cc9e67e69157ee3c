// one_hot: converts class indices to one-hot vectors.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = OneHotAttrs;

// Constraints.
//   C1  indices are integers.
//   C2  depth >= 0, and the result has at most 2^62 bytes.
//   C3  -rank(y) <= axis < rank(y), where rank(y) = rank(indices) + 1.
//   C4  dtype is given.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& indices = in[0];
  require(is_integer(indices.dtype), "C1: indices must be integers, but are {}", indices.dtype);
  require(attrs.depth >= 0, "C2: depth must not be negative, but is {}", attrs.depth);
  require(attrs.dtype != DType::kNone, "C4: dtype must be given");
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, indices.rank() + 1, "C3"));
  TensorType y(attrs.dtype, indices.shape);
  y.shape.insert(axis, attrs.depth);
  check_size(y);
  return {y};
}

// Compares in int64, which represents every class index of any integer dtype.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const size_t rank = in[0]->rank() + 1;
  const int64_t axis = from_front(attrs.axis, rank);
  const Tensor i = cast(in[0], DType::kI64);
  const Tensor index = where(less(i, integer(0)), add(i, integer(attrs.depth)), i);
  Dims along;
  for (size_t d = 0; d < rank; ++d) along.push_back(1);
  along[static_cast<size_t>(axis)] = attrs.depth;
  const Tensor classes = iota(along, DType::kI64, axis);
  return {cast(equal(expand_dims(index, {axis}), classes), attrs.dtype)};
}

// Returns a row of n zeros, except for a one at `index`.
CaseTensor one_hot_row(int64_t n, size_t index) {
  CaseTensor row = u8({1, n}, {});
  row.values.assign(static_cast<size_t>(n), 0);
  row.values[index] = 1;
  return row;
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .attrs = {.depth = 3},
       .inputs = {i64({1, 0})},
       .expect = {f32({2, 3}, {0, 1, 0, 1, 0, 0})}},
      {.name = "first_axis",
       .attrs = {.depth = 3, .axis = 0},
       .inputs = {i64({1, 0})},
       .expect = {f32({3, 2}, {0, 1, 1, 0, 0, 0})}},
      {.name = "dtype",
       .attrs = {.depth = 2, .dtype = DType::kBool},
       .inputs = {i32({0, 1})},
       .expect = {boolean({2, 2}, {1, 0, 0, 1})}},
      {.name = "negative_counts_from_the_end",
       .attrs = {.depth = 3},
       .inputs = {i64({-1, -3})},
       .expect = {f32({2, 3}, {0, 0, 1, 1, 0, 0})}},
      {.name = "outside_gives_zeros",
       .attrs = {.depth = 2},
       .inputs = {i64({2, -3})},
       .expect = {f32({2, 2}, {0, 0, 0, 0})}},
      {.name = "more_classes_than_the_indices_can_name",
       .attrs = {.depth = 258, .dtype = DType::kU8},
       .inputs = {u8({1})},
       .expect = {one_hot_row(258, 1)}},
      {.name = "rank_0", .attrs = {.depth = 2}, .inputs = {i64({}, {1})}, .expect = {f32({0, 1})}},
      {.name = "no_classes",
       .attrs = {.depth = 0},
       .inputs = {i64({1})},
       .expect = {f32({1, 0}, {})}},
      {.name = "indices_are_floating", .attrs = {.depth = 2}, .inputs = {f32({1})}, .error = "C1"},
      {.name = "negative_depth", .attrs = {.depth = -1}, .inputs = {i64({1})}, .error = "C2"},
      {.name = "axis_out_of_range",
       .attrs = {.depth = 2, .axis = 2},
       .inputs = {i64({1})},
       .error = "C3"},
      {.name = "no_dtype",
       .attrs = {.depth = 2, .dtype = DType::kNone},
       .inputs = {i64({1})},
       .error = "C4"},
  };
}

}  // namespace

OpDef one_hot_def() {
  return define<Attrs>({
      .name = "one_hot",
      .summary = "One-hot vectors: for each index, one at that position and zeros elsewhere.",
      .formula = "y[..., j, ...] = 1 if indices[...] == j, else 0",
      .details = "Negative indices count from the end. An out-of-range index gives only zeros, and "
                 "is not an error.",
      .inputs = {{"indices", "the class indices, as integers"}},
      .outputs = {{"y", "the one-hot vectors, along a new axis"}},
      .attrs_doc =
          {{"depth", "The number of classes."},
           {"axis",
            "The position of the new axis in the result; negative values count from the end."},
           {"dtype", "The dtype of the result."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .sparse_output = true,
      .no_gradient = "its inputs are indices",
      .onnx = "OneHot",
  });
}

}  // namespace tenon::ops
