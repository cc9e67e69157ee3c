// gather_nd: selects slices of x by coordinates, which are in the last axis of the indices.

#include "core/ops/indexing/indexing.h"

namespace tenon::ops {
namespace {

using Attrs = GatherNdAttrs;

// Constraints.
//   C1  indices are int32 or int64.
//   C2  -n <= index < n for each index, where n is the size of the axis of x that it refers to.
//   C3  0 <= batch_dims < rank(indices) and batch_dims <= rank(x); x and indices have the same
//       sizes along those axes.
//   C4  the last axis of indices has from 1 to rank(x) - batch_dims coordinates.
//   C5  the result has at most 16 axes and 2^62 bytes.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[0], &indices = in[1];
  require_indices(indices);
  const int64_t batch_dims = attrs.batch_dims;
  const auto batch = static_cast<size_t>(batch_dims);
  require(batch_dims >= 0 && batch < indices.rank() && batch <= x.rank(),
          "C3: batch_dims {} must be less than the rank of indices and at most the rank of x: {} "
          "and {}",
          batch_dims, x, indices);
  for (size_t i = 0; i < batch; ++i) {
    require(x.shape[i] == indices.shape[i],
            "C3: axis {} of x: {} and of indices: {} must have the same size", i, x, indices);
  }
  const size_t last = indices.rank() - 1;
  const int64_t n = indices.shape[last];
  require(n >= 1 && n <= static_cast<int64_t>(x.rank() - batch),
          "C4: {} coordinates per index, but allowed are 1 to the rank of x {} minus {} batch axes",
          n, x, batch);

  const size_t first_kept = batch + static_cast<size_t>(n);
  require(last + x.rank() - first_kept <= kMaxRank,
          "C5: gathering {} at {} gives more than {} axes", x, indices, kMaxRank);
  TensorType y(x.dtype, indices.shape);
  y.shape.erase(last);
  for (size_t i = first_kept; i < x.rank(); ++i) y.shape.push_back(x.shape[i]);
  check_size(y);
  return {y};
}

// Prepends the coordinates of the batch axes to each index tuple, because scatter_nd has no
// attribute batch_dims.
Tensor with_batch_coordinates(const Tensor& indices, int64_t batch_dims) {
  if (batch_dims == 0) return indices;
  Dims column = indices->shape();
  column[column.rank() - 1] = 1;
  Tensors columns;
  for (int64_t axis = 0; axis < batch_dims; ++axis) {
    columns.push_back(iota(column, indices->type.dtype, axis));
  }
  columns.push_back(indices);
  return concat(columns, -1);
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor indices = with_batch_coordinates(v.input(1), attrs.batch_dims);
  return {scatter_nd(zeros(v.input_type(0)), indices, v.cotangent(0), ScatterReduction::kAdd),
          Tensor()};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 2}, {1, 2, 3, 4});
  const CaseTensor cube = f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  return {
      {.name = "example", .inputs = {x, i64({2, 2}, {0, 0, 1, 0})}, .expect = {f32({1, 3})}},
      {.name = "slices", .inputs = {x, i64({2, 1}, {1, 0})}, .expect = {f32({2, 2}, {3, 4, 1, 2})}},
      {.name = "batches",
       .attrs = {.batch_dims = 1},
       .inputs = {cube, i64({2, 1}, {1, 0})},
       .expect = {f32({2, 2}, {3, 4, 5, 6})}},
      {.name = "batches_of_rows",
       .attrs = {.batch_dims = 1},
       .inputs = {cube, i32({2, 2, 2}, {0, 1, 1, 1, 0, 0, 1, 0})},
       .expect = {f32({2, 2}, {2, 4, 5, 7})}},
      {.name = "one_place", .inputs = {x, i64({1, 1})}, .expect = {f32({}, {4})}},
      {.name = "negative_counts_from_the_end",
       .inputs = {x, i64({1, 2}, {-1, -2})},
       .expect = {f32({3})}},
      {.name = "no_indices", .inputs = {x, i64({0, 1}, {})}, .expect = {f32({0, 2}, {})}},
      {.name = "indices_are_floating", .inputs = {x, f32({0})}, .error = "C1"},
      {.name = "index_out_of_range", .inputs = {x, i64({1, 2}, {0, 2})}, .error = "C2"},
      {.name = "too_many_batch_axes",
       .attrs = {.batch_dims = 1},
       .inputs = {x, i64({0})},
       .error = "C3"},
      {.name = "batches_differ",
       .attrs = {.batch_dims = 1},
       .inputs = {x, i64({3, 1}, {0, 0, 0})},
       .error = "C3"},
      {.name = "too_many_coordinates", .inputs = {x, i64({0, 0, 0})}, .error = "C4"},
      {.name = "rank_0_indices", .inputs = {x, i64({}, {0})}, .error = "C3"},
      {.name = "too_many_axes",
       .inputs = {uniform({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}), i64({1, 1, 1, 1, 1, 1, 1, 1, 1}, {0})},
       .error = "C5"},
  };
}

}  // namespace

OpDef gather_nd_def() {
  return define<Attrs>({
      .name = "gather_nd",
      .summary = "Gathers slices at the coordinates that indices hold along their last axis.",
      .formula = "y[i, ...] = x[indices[i, 0], indices[i, 1], ..., ...]",
      .details =
          "Negative indices count from the end. An out-of-range index reads 0 and is an error.",
      .inputs = {{"x", "the tensor to gather from"},
                 {"indices", "the coordinates; the last axis holds those of one slice"}},
      .outputs = {{"y", "the gathered slices"}},
      .attrs_doc = {{"batch_dims", "The number of leading batch axes that x and indices share."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kSecondInput,
      .storage = StorageUse::kMoves,
      .index_rule = "C2",
      .onnx = "GatherND",
  });
}

}  // namespace tenon::ops
