// gather: selects slices along one axis by index.

#include "core/ops/indexing/indexing.h"

namespace tenon::ops {
namespace {

using Attrs = AxisAttrs;

// Constraints.
//   C1  indices are int32 or int64.
//   C2  -n <= index < n for each of them, where n is the size of x along axis.
//   C3  -rank(x) <= axis < rank(x).
//   C4  the result has at most 16 axes and 2^62 bytes.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[0], &indices = in[1];
  require_indices(indices);
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, x, "C3"));
  require(x.rank() - 1 + indices.rank() <= kMaxRank,
          "C4: gathering {} at {} gives more than {} axes", x, indices, kMaxRank);
  TensorType y(x.dtype, {});
  for (size_t i = 0; i < axis; ++i) y.shape.push_back(x.shape[i]);
  for (const Size size : indices.shape) y.shape.push_back(size);
  for (size_t i = axis + 1; i < x.rank(); ++i) y.shape.push_back(x.shape[i]);
  check_size(y);
  return {y};
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  return {gather_transposed(v.cotangent(0), v.input(1), v.input_type(0), attrs.axis), Tensor()};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({3, 2}, {1, 2, 3, 4, 5, 6});
  return {
      {.name = "example", .inputs = {x, i64({2, 0})}, .expect = {f32({2, 2}, {5, 6, 1, 2})}},
      {.name = "last_axis",
       .attrs = {.axis = -1},
       .inputs = {x, i64({1})},
       .expect = {f32({3, 1}, {2, 4, 6})}},
      {.name = "indices_of_two_axes",
       .inputs = {f32({10, 20, 30}), i32({2, 2}, {0, 1, 2, 0})},
       .expect = {f32({2, 2}, {10, 20, 30, 10})}},
      {.name = "middle_axis",
       .attrs = {.axis = 1},
       .inputs = {uniform({2, 3, 4}), i64({2, 2}, {0, 2, 1, 2})}},
      {.name = "one_index_takes_the_axis_away",
       .attrs = {.axis = 1},
       .inputs = {x, i64({}, {0})},
       .expect = {f32({1, 3, 5})}},
      {.name = "negative_counts_from_the_end",
       .inputs = {f32({10, 20, 30}), i64({-1, -3})},
       .expect = {f32({30, 10})}},
      {.name = "bool", .inputs = {boolean({0, 1}), i64({1, 1})}, .expect = {boolean({1, 1})}},
      {.name = "no_indices", .inputs = {x, i64({0}, {})}, .expect = {f32({0, 2}, {})}},
      {.name = "indices_are_floating", .inputs = {x, f32({0})}, .error = "C1"},
      {.name = "indices_are_unsigned", .inputs = {x, u8({0})}, .error = "C1"},
      {.name = "index_out_of_range", .inputs = {x, i64({3})}, .error = "C2"},
      {.name = "negative_index_out_of_range", .inputs = {x, i32({0, -4})}, .error = "C2"},
      {.name = "index_into_nothing", .inputs = {f32({0}, {}), i64({0})}, .error = "C2"},
      {.name = "axis_out_of_range", .attrs = {.axis = 2}, .inputs = {x, i64({0})}, .error = "C3"},
      {.name = "rank_0_has_no_axis", .inputs = {f32({}, {1}), i64({0})}, .error = "C3"},
      {.name = "too_many_axes",
       .inputs = {uniform({1, 1, 1, 1, 1, 1, 1, 1, 1}), i64({1, 1, 1, 1, 1, 1, 1, 1, 1}, {0})},
       .error = "C4"},
  };
}

}  // namespace

// scatter_nd indexes the leading axes. So the axes of the indices are moved to the front of g
// first, and in the result the indexed axis is moved back to `axis`.
Tensor gather_transposed(const Tensor& g, const Tensor& indices, const TensorType& x,
                         int64_t axis) {
  axis = from_front(axis, x.rank());
  const auto n_index_axes = static_cast<int64_t>(indices->rank());

  Ints indices_first, axis_back;
  for (int64_t i = 0; i < n_index_axes; ++i) indices_first.push_back(axis + i);
  TensorType turned(x.dtype, {x.shape[static_cast<size_t>(axis)]});
  for (int64_t i = 0; i < static_cast<int64_t>(x.rank()); ++i) {
    axis_back.push_back(i < axis ? i + 1 : i == axis ? 0 : i);
    if (i == axis) continue;
    indices_first.push_back(i < axis ? i : i + n_index_axes - 1);
    turned.shape.push_back(x.shape[static_cast<size_t>(i)]);
  }

  const Tensor updates = axis == 0 ? g : transpose(g, indices_first);
  const Tensor sums =
      scatter_nd(zeros(turned), expand_dims(indices, {-1}), updates, ScatterReduction::kAdd);
  return axis == 0 ? sums : transpose(sums, axis_back);
}

OpDef gather_def() {
  return define<Attrs>({
      .name = "gather",
      .summary = "Slices along one axis, selected by index.",
      .formula = "y[i, j, k] = x[i, indices[j], k]",
      .details =
          "Negative indices count from the end. An index out of range reads 0 and is an error.",
      .inputs = {{"x", "the tensor to read from"}, {"indices", "the indices along axis"}},
      .outputs = {{"y", "the slices, with the axes of indices in place of axis"}},
      .attrs_doc = {{"axis", "The axis to select along; a negative one counts from the end."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kSecondInput,
      .storage = StorageUse::kMoves,
      .index_rule = "C2",
      .onnx = "Gather",
  });
}

}  // namespace tenon::ops
