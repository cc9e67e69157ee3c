// embedding: looks up rows of a table by index.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  table has two axes.
//   C2  indices is i32 or i64.
//   C3  y has the shape of indices, followed by the size of a row.
//   C4  Each index is in [-n, n), where n is the number of rows; a negative one counts from the
//       end. Checked where the indices are read.
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  const TensorType &table = in[0], &indices = in[1];
  require(table.rank() == 2, "C1: table must have two axes, but is {}", table);
  require(indices.dtype == DType::kI32 || indices.dtype == DType::kI64,
          "C2: indices must be i32 or i64, but is {}", indices.dtype);
  TensorType y(table.dtype, indices.shape);
  y.shape.push_back(table.shape[1]);
  return {y};  // C3
}

Tensors decompose(const NoAttrs&, TensorSpan in) { return {gather(in[0], in[1], 0)}; }

Cases<NoAttrs> cases() {
  const CaseTensor table = f32({3, 2}, {1, 2, 3, 4, 5, 6});
  return {
      {.name = "example", .inputs = {table, i64({2, 0})}, .expect = {f32({2, 2}, {5, 6, 1, 2})}},
      {.name = "a_row_twice",
       .inputs = {table, i32({2, 2}, {1, 1, 0, -1})},
       .expect = {f32({2, 2, 2}, {3, 4, 3, 4, 1, 2, 5, 6})}},
      {.name = "one_row", .inputs = {table, i64({}, {1})}, .expect = {f32({3, 4})}},
      {.name = "no_rows", .inputs = {table, i64({0}, {})}, .expect = {f32({0, 2}, {})}},
      {.name = "no_such_row", .inputs = {table, i64({3})}, .error = "index 3 is outside [0, 3)"},
      {.name = "table_is_a_vector", .inputs = {f32({1, 2}), i64({0})}, .error = "C1"},
      {.name = "floating_indices", .inputs = {table, f32({0})}, .error = "C2"},
  };
}

}  // namespace

OpDef embedding_def() {
  return define<NoAttrs>({
      .name = "embedding",
      .summary = "Rows of a table, looked up by index.",
      .formula = "y[..., j] = table[indices[...], j]",
      .details = "An index out of range gives zeros and is an error, as in gather.",
      .inputs = {{"table", "the table, one row for each entry"}, {"indices", "the row indices"}},
      .outputs = {{"y", "the rows"}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kExact,
      .index_rule = "C4",
  });
}

}  // namespace tenon::ops
