// eye: ones on a diagonal, zeros elsewhere.

#include <algorithm>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t rows = 1;           // The number of rows.
  int64_t columns = -1;       // Number of columns; -1: as many as rows.
  int64_t k = 0;              // Offset of the diagonal from the main one; positive: to the right.
  DType dtype = DType::kF32;  // The dtype of the result.
  TENON_ATTRS(rows, columns, k, dtype)
};

// Returns the number of columns, which defaults to the number of rows.
int64_t columns_of(const Attrs& attrs) { return attrs.columns == -1 ? attrs.rows : attrs.columns; }

// Constraints.
//   C1  rows and columns are not negative, and the result has at most 2^62 bytes.
//   C2  dtype is given.
TensorTypes infer(const Attrs& attrs, TypeSpan) {
  require(attrs.dtype != DType::kNone, "C2: dtype must be given");
  return {require_sizes(attrs.dtype, {attrs.rows, columns_of(attrs)}, "C1")};
}

// Clamps k to the nearest diagonal outside the matrix, which is all zeros. This prevents overflow
// of row + k.
Tensors decompose(const Attrs& attrs, TensorSpan) {
  const int64_t columns = columns_of(attrs);
  const int64_t k = std::clamp(attrs.k, -attrs.rows, columns);
  const Tensor row = iota({attrs.rows, 1}, DType::kI64, 0);
  const Tensor column = iota({1, columns}, DType::kI64, 1);
  return {cast(equal(column, add(row, integer(k))), attrs.dtype)};
}

Cases<Attrs> cases() {
  return {
      {.name = "example", .attrs = {.rows = 2}, .expect = {f32({2, 2}, {1, 0, 0, 1})}},
      {.name = "wide",
       .attrs = {.rows = 2, .columns = 3},
       .expect = {f32({2, 3}, {1, 0, 0, 0, 1, 0})}},
      {.name = "upper_diagonal",
       .attrs = {.rows = 2, .columns = 3, .k = 1},
       .expect = {f32({2, 3}, {0, 1, 0, 0, 0, 1})}},
      {.name = "lower_diagonal",
       .attrs = {.rows = 3, .columns = 2, .k = -1, .dtype = DType::kI32},
       .expect = {i32({3, 2}, {0, 0, 1, 0, 0, 1})}},
      {.name = "diagonal_outside",
       .attrs = {.rows = 2, .k = 9223372036854775807},
       .expect = {f32({2, 2}, {0, 0, 0, 0})}},
      {.name = "bool",
       .attrs = {.rows = 2, .dtype = DType::kBool},
       .expect = {boolean({2, 2}, {1, 0, 0, 1})}},
      {.name = "no_elements", .attrs = {.rows = 0}, .expect = {f32({0, 0}, {})}},
      {.name = "negative_rows", .attrs = {.rows = -2}, .error = "C1"},
      {.name = "no_dtype", .attrs = {.dtype = DType::kNone}, .error = "C2"},
  };
}

}  // namespace

OpDef eye_def() {
  return define<Attrs>({
      .name = "eye",
      .summary = "A matrix with ones on one diagonal and zeros elsewhere.",
      .formula = "y[i, j] = 1 if j == i + k, else 0",
      .outputs = {{"y", "the matrix"}},
      .attrs_doc =
          {{"rows", "The number of rows."},
           {"columns", "The number of columns; -1 for as many as rows."},
           {"k",
            "The offset of the diagonal: positive right of the main one, negative left of it."},
           {"dtype", "The dtype of the result."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .sparse_output = true,
      .no_gradient = "it has no inputs",
      .onnx = "EyeLike",
  });
}

}  // namespace tenon::ops
