// tril and triu: keep the triangle below or above a diagonal, and set the other elements to zero.

#include <algorithm>

#include "core/ops/linalg/linalg.h"

namespace tenon::ops {
namespace {

using Attrs = DiagonalAttrs;

// Constraints.
//   C1  x has at least two axes; the last two are the matrices.
TensorTypes infer(const Attrs&, TypeSpan in) {
  require(in[0].rank() >= 2, "C1: x must have two axes or more, but is {}", in[0]);
  return {TensorType(in[0].dtype, in[0].shape)};
}

// Sets the elements of x for which kept(column, row + k) is false to zero. Clamps k to a diagonal
// outside every possible matrix, so that row + k cannot overflow.
Tensor keep_triangle(const Attrs& attrs, const Tensor& x,
                     Tensor (*kept)(const Tensor&, const Tensor&)) {
  constexpr int64_t kBeyond = int64_t{1} << 61;
  const Size rows = x->shape()[x->rank() - 2], columns = x->shape()[x->rank() - 1];
  const int64_t k = std::clamp(attrs.k, -kBeyond, kBeyond);
  const Tensor row = iota({rows, 1}, DType::kI64, 0);
  const Tensor column = iota({1, columns}, DType::kI64, 1);
  return where(kept(column, add(row, integer(k))), x, number_of(x->type.dtype, 0));
}

Tensors tril_decompose(const Attrs& attrs, TensorSpan in) {
  return {keep_triangle(attrs, in[0], less_equal)};
}

Tensors triu_decompose(const Attrs& attrs, TensorSpan in) {
  return {keep_triangle(attrs, in[0], greater_equal)};
}

// Returns the 3 by 3 matrix of the numbers 1 to 9.
CaseTensor matrix_of_nine() { return f32({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}); }

// Appends the cases that both ops share.
Cases<Attrs> with_shared_cases(Cases<Attrs> cases) {
  cases.push_back({.name = "no_elements", .inputs = {uniform({2, 0, 3})}});
  cases.push_back({.name = "one_axis", .inputs = {uniform({3})}, .error = "C1"});
  return cases;
}

Cases<Attrs> tril_cases() {
  return with_shared_cases({
      {.name = "example",
       .inputs = {matrix_of_nine()},
       .expect = {f32({3, 3}, {1, 0, 0, 4, 5, 0, 7, 8, 9})}},
      {.name = "upper_diagonal",
       .attrs = {.k = 1},
       .inputs = {matrix_of_nine()},
       .expect = {f32({3, 3}, {1, 2, 0, 4, 5, 6, 7, 8, 9})}},
      {.name = "lower_diagonal",
       .attrs = {.k = -1},
       .inputs = {matrix_of_nine()},
       .expect = {f32({3, 3}, {0, 0, 0, 4, 0, 0, 7, 8, 0})}},
      {.name = "diagonal_outside",
       .attrs = {.k = 9223372036854775807},
       .inputs = {matrix_of_nine()},
       .expect = {matrix_of_nine()}},
      {.name = "batch_of_wide_matrices",
       .inputs = {i32({2, 1, 2}, {1, 2, 3, 4})},
       .expect = {i32({2, 1, 2}, {1, 0, 3, 0})}},
      {.name = "bool",
       .inputs = {boolean({2, 2}, {1, 1, 1, 1})},
       .expect = {boolean({2, 2}, {1, 0, 1, 1})}},
  });
}

Cases<Attrs> triu_cases() {
  return with_shared_cases({
      {.name = "example",
       .inputs = {matrix_of_nine()},
       .expect = {f32({3, 3}, {1, 2, 3, 0, 5, 6, 0, 0, 9})}},
      {.name = "upper_diagonal",
       .attrs = {.k = 1},
       .inputs = {matrix_of_nine()},
       .expect = {f32({3, 3}, {0, 2, 3, 0, 0, 6, 0, 0, 0})}},
      {.name = "lower_diagonal",
       .attrs = {.k = -1},
       .inputs = {matrix_of_nine()},
       .expect = {f32({3, 3}, {1, 2, 3, 4, 5, 6, 0, 8, 9})}},
      {.name = "diagonal_outside",
       .attrs = {.k = 9223372036854775807},
       .inputs = {matrix_of_nine()},
       .expect = {f32({3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0})}},
      {.name = "bool",
       .inputs = {boolean({2, 2}, {1, 1, 1, 1})},
       .expect = {boolean({2, 2}, {1, 1, 0, 1})}},
  });
}

OpDef define_triangle_op(Definition<Attrs> d) {
  d.inputs = {{"x", "the matrices, in the last two axes"}};
  d.outputs = {{"y", "the input with zeros on the other side of the diagonal"}};
  d.attrs_doc = {{"k",
                  "The diagonal that bounds the kept elements: 0 for the main one, above 0 to the "
                  "right of it."}};
  d.infer = infer;
  d.sparse_output = true;
  d.onnx = "Trilu";
  return define(d);
}

}  // namespace

OpDef tril_def() {
  return define_triangle_op({
      .name = "tril",
      .summary = "The lower triangles of matrices, with zeros above.",
      .formula = "y[i, j] = x[i, j] if j <= i + k, else 0",
      .decompose = tril_decompose,
      .cases = tril_cases,
  });
}

OpDef triu_def() {
  return define_triangle_op({
      .name = "triu",
      .summary = "The upper triangles of matrices, with zeros below.",
      .formula = "y[i, j] = x[i, j] if j >= i + k, else 0",
      .decompose = triu_decompose,
      .cases = triu_cases,
  });
}

}  // namespace tenon::ops
