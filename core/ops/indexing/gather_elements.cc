// gather_elements: for each index, selects one element along an axis.

#include "core/ops/indexing/indexing.h"

namespace tenon::ops {
namespace {

using Attrs = AxisAttrs;

// Constraints.
//   C1  indices are int32 or int64.
//   C2  -n <= index < n for each index, where n is the size of x along axis.
//   C3  -rank(x) <= axis < rank(x).
//   C4  indices have the rank of x, and at most the size of x along each axis other than `axis`.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[0], &indices = in[1];
  require_indices(indices);
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, x, "C3"));
  require(indices.rank() == x.rank(), "C4: indices {} and x {} differ in rank", indices, x);
  for (size_t i = 0; i < x.rank(); ++i) {
    require(i == axis || indices.shape[i] <= x.shape[i],
            "C4: axis {} of indices {} is longer than that of x {}", i, indices, x);
  }
  const TensorType y(x.dtype, indices.shape);
  check_size(y);
  return {y};
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const ScatterElementsAttrs add{.axis = attrs.axis, .reduction = ScatterReduction::kAdd};
  return {scatter_elements(zeros(v.input_type(0)), v.input(1), v.cotangent(0), add), Tensor()};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  return {
      {.name = "example",
       .attrs = {.axis = 1},
       .inputs = {x, i64({2, 2}, {0, 0, 2, 1})},
       .expect = {f32({2, 2}, {1, 1, 6, 5})}},
      {.name = "first_axis",
       .inputs = {x, i64({1, 3}, {1, 0, 1})},
       .expect = {f32({1, 3}, {4, 2, 6})}},
      {.name = "fewer_rows",
       .attrs = {.axis = -1},
       .inputs = {x, i32({1, 2}, {2, 0})},
       .expect = {f32({1, 2}, {3, 1})}},
      {.name = "more_indices_than_elements",
       .inputs = {f32({7, 8}), i64({1, 1, 0})},
       .expect = {f32({8, 8, 7})}},
      {.name = "negative_counts_from_the_end",
       .inputs = {f32({7, 8}), i64({-1, -2})},
       .expect = {f32({8, 7})}},
      {.name = "no_indices", .inputs = {x, i64({0, 3}, {})}, .expect = {f32({0, 3}, {})}},
      {.name = "indices_are_floating", .inputs = {f32({1}), f32({0})}, .error = "C1"},
      {.name = "index_out_of_range", .inputs = {f32({1, 2}), i64({2})}, .error = "C2"},
      {.name = "axis_out_of_range",
       .attrs = {.axis = 1},
       .inputs = {f32({1}), i64({0})},
       .error = "C3"},
      {.name = "ranks_differ", .inputs = {x, i64({0})}, .error = "C4"},
      {.name = "too_many_rows",
       .attrs = {.axis = 1},
       .inputs = {x, i64({3, 1}, {0, 0, 0})},
       .error = "C4"},
  };
}

}  // namespace

OpDef gather_elements_def() {
  return define<Attrs>({
      .name = "gather_elements",
      .summary = "Gathers one element for each index along one axis.",
      .formula = "y[i, j] = x[i, indices[i, j]], for axis 1",
      .details =
          "Negative indices count from the end. An out-of-range index reads 0 and is an error.",
      .inputs = {{"x", "the tensor to gather from"}, {"indices", "the indices along axis"}},
      .outputs = {{"y", "the gathered elements, in the shape of indices"}},
      .attrs_doc = {{"axis",
                     "The axis that indices refer to; negative values count from the end."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kSecondInput,
      .storage = StorageUse::kMoves,
      .index_rule = "C2",
      .onnx = "GatherElements",
  });
}

}  // namespace tenon::ops
