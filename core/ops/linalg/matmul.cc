// matmul: matrix products, with NumPy's rules for vectors and batches.

#include "core/ops/linalg/matmul.h"

#include "core/ops/linalg/linalg.h"

namespace tenon {
namespace {

// Converts a left operand that is a vector to a matrix of one row.
Tensor as_rows(const Tensor& a) { return a->rank() == 1 ? expand_dims(a, {0}) : a; }
// Converts a right operand that is a vector to a matrix of one column.
Tensor as_columns(const Tensor& b) { return b->rank() == 1 ? expand_dims(b, {1}) : b; }

// Inserts the axes of size 1 that dy lacks if an operand is a vector.
Tensor as_matrices(const Tensor& dy, size_t rank_a, size_t rank_b) {
  Tensor result = rank_b == 1 ? expand_dims(dy, {-1}) : dy;
  return rank_a == 1 ? expand_dims(result, {-2}) : result;
}

// Converts a gradient to the shape of its operand: sums over broadcast batch axes, and removes the
// axis that was added to a vector.
Tensor as_operand(const Tensor& gradient, const TensorType& operand, size_t vector_axis) {
  TensorType matrices = operand;
  if (operand.rank() == 1) matrices.shape.insert(vector_axis, 1);
  const Tensor summed = sum_to(gradient, matrices);
  return operand.rank() == 1 ? reshape(summed, operand.shape) : summed;
}

// Reshapes a batch of matrices to one matrix, which has the rows of all of them.
Tensor stacked(const Tensor& x) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < x->rank(); ++i) rows *= x->shape()[i];
  return reshape(x, {rows, x->shape()[x->rank() - 1]});
}

}  // namespace

// Returns the cotangent of a for y = matmul(a, b, attrs).
Tensor matmul_da(const Tensor& dy, const Tensor& b, const TensorType& a, const MatmulAttrs& attrs) {
  const Tensor rows = as_matrices(dy, a.rank(), b->rank());
  const Tensor columns = as_columns(b);
  const Tensor da =
      attrs.transpose_a
          ? matmul(columns, rows, {.transpose_a = attrs.transpose_b, .transpose_b = true})
          : matmul(rows, columns, {.transpose_b = !attrs.transpose_b});
  return as_operand(da, a, 0);
}

// Returns the cotangent of b for y = matmul(a, b, attrs).
Tensor matmul_db(const Tensor& a, const Tensor& dy, const TensorType& b, const MatmulAttrs& attrs) {
  Tensor left = as_rows(a);
  Tensor right = as_matrices(dy, a->rank(), b.rank());
  // If b has no batch axes, db is one product over the rows of all matrices. That avoids one
  // product per matrix and a sum.
  if (b.rank() <= 2 && left->rank() > 2 && !attrs.transpose_a) {
    left = stacked(left);
    right = stacked(right);
  }
  const Tensor db =
      attrs.transpose_b
          ? matmul(right, left, {.transpose_a = true, .transpose_b = attrs.transpose_a})
          : matmul(left, right, {.transpose_a = !attrs.transpose_a});
  return as_operand(db, b, 1);
}

namespace {

// Requires x to have an axis (C2) and, if it is transposed, two axes (C3).
void require_matrices(bool transposed, const TensorType& x, const char* name) {
  require(x.rank() >= 1, "C2: {} must have at least one axis, but is {}", name, x);
  require(!transposed || x.rank() >= 2, "C3: transpose_{} needs two axes, but {} is {}", name, name,
          x);
}

}  // namespace

Dims infer_product_shape(const TensorType& a, const TensorType& b, const MatmulAttrs& attrs) {
  require_matrices(attrs.transpose_a, a, "a");
  require_matrices(attrs.transpose_b, b, "b");

  const size_t ra = a.rank(), rb = b.rank();
  const Size inner_a = a.shape[attrs.transpose_a ? ra - 2 : ra - 1];
  const Size inner_b = rb == 1 ? b.shape[0] : b.shape[attrs.transpose_b ? rb - 1 : rb - 2];
  require(inner_a == inner_b, "C4: {} columns of a: {} do not match {} rows of b: {}", inner_a, a,
          inner_b, b);

  TensorType batch_a = a, batch_b = b;
  batch_a.shape.set_rank(ra < 2 ? 0 : ra - 2);
  batch_b.shape.set_rank(rb < 2 ? 0 : rb - 2);
  Dims y = require_broadcast(batch_a, batch_b, "C5");
  if (ra > 1) y.push_back(a.shape[attrs.transpose_a ? ra - 1 : ra - 2]);
  if (rb > 1) y.push_back(b.shape[attrs.transpose_b ? rb - 2 : rb - 1]);
  return y;  // C6
}

// Converts the sizes and strides of a, b or y to the matrices that kernels receive.
void arrange_product(ProductPart part, size_t rank_a, size_t rank_b, const Dims& y,
                     StridedShape& operand) {
  const bool vector_a = rank_a == 1, vector_b = rank_b == 1;
  Dims &sizes = operand.sizes, &strides = operand.strides;
  if (vector_a && part != ProductPart::kB) {  // Insert the row axis into a and y.
    const size_t at = part == ProductPart::kA ? 0 : sizes.rank() - (vector_b ? 0 : 1);
    sizes.insert(at, 1);
    strides.insert(at, 0);
  }
  if (vector_b && part != ProductPart::kA) {  // Append the column axis to b and y.
    sizes.push_back(1);
    strides.push_back(0);
  }
  if (part == ProductPart::kY) return;
  Dims whole = y;
  if (vector_a) whole.push_back(1);
  if (vector_b) whole.push_back(1);
  broadcast_batches(whole, operand);
}

namespace ops {
namespace {

using Attrs = MatmulAttrs;

// Constraints.
//   C1  a and b are numeric and of one dtype.
//   C2  a and b have at least one axis.
//   C3  A transposed operand has at least two axes.
//   C4  The number of columns of a equals the number of rows of b, both after transposition.
//   C5  The axes before the last two broadcast.
//   C6  y has the batch axes, then the rows of a and the columns of b; a vector operand adds no
//       axis.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &a = in[0], &b = in[1];
  require(is_numeric(a.dtype) && a.dtype == b.dtype,
          "C1: a and b must be numeric and of one dtype, but are {} and {}", a, b);
  return {TensorType(a.dtype, infer_product_shape(a, b, attrs))};
}

// Implements `arrange` (see OpDef).
void arrange(size_t i, TypeSpan in, const TensorTypes& out, StridedShape& operand) {
  constexpr ProductPart kParts[] = {ProductPart::kA, ProductPart::kB, ProductPart::kY};
  arrange_product(kParts[i], in[0].rank(), in[1].rank(), out[0].shape, operand);
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor& dy = v.cotangent(0);
  Tensors grads(2, Tensor());
  if (v.needs(0)) grads[0] = matmul_da(dy, v.input(1), v.input_type(0), attrs);
  if (v.needs(1)) grads[1] = matmul_db(v.input(0), dy, v.input_type(1), attrs);
  return grads;
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({3, 2}, {1, 0, 0, 1, 1, 1})},
       .expect = {f32({2, 2}, {4, 5, 10, 11})}},
      {.name = "transpose_a",
       .attrs = {.transpose_a = true},
       .inputs = {f32({3, 2}, {1, 4, 2, 5, 3, 6}), f32({3, 2}, {1, 0, 0, 1, 1, 1})},
       .expect = {f32({2, 2}, {4, 5, 10, 11})}},
      {.name = "transpose_b",
       .attrs = {.transpose_b = true},
       .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({2, 3}, {1, 0, 1, 0, 1, 1})},
       .expect = {f32({2, 2}, {4, 5, 10, 11})}},
      {.name = "both_transposed",
       .attrs = {.transpose_a = true, .transpose_b = true},
       .inputs = {f32({3, 2}, {1, 4, 2, 5, 3, 6}), f32({2, 3}, {1, 0, 1, 0, 1, 1})},
       .expect = {f32({2, 2}, {4, 5, 10, 11})}},
      {.name = "both_transposed_in_batches",
       .attrs = {.transpose_a = true, .transpose_b = true},
       .inputs = {uniform({2, 3, 4}), uniform({5, 3})}},
      {.name = "vectors", .inputs = {f32({1, 2, 3}), f32({4, 5, 6})}, .expect = {f32({}, {32})}},
      {.name = "vector_on_the_left",
       .inputs = {f32({1, 2}), f32({2, 3}, {1, 2, 3, 4, 5, 6})},
       .expect = {f32({9, 12, 15})}},
      {.name = "vector_on_the_right",
       .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({1, 0, -1})},
       .expect = {f32({-2, -2})}},
      {.name = "vector_on_the_left_of_a_batch",
       .inputs = {f32({1, 2}), f32({2, 2, 1}, {1, 2, 3, 4})},
       .expect = {f32({2, 1}, {5, 11})}},
      {.name = "vector_on_the_right_of_a_batch", .inputs = {uniform({2, 3, 4}), uniform({4})}},
      {.name = "batches_broadcast",
       .inputs = {f32({2, 1, 1, 2}, {1, 2, 3, 4}), f32({2, 2, 1}, {1, 0, 0, 1})},
       .expect = {f32({2, 2, 1, 1}, {1, 2, 3, 4})}},
      {.name = "one_matrix_for_all", .inputs = {uniform({3, 2, 4}), uniform({4, 5})}},
      {.name = "one_transposed_matrix_for_all",
       .attrs = {.transpose_b = true},
       .inputs = {uniform({3, 2, 4}), uniform({5, 4})}},
      {.name = "integers_wrap",
       .inputs = {i8({1, 2}, {100, 100}), i8({2, 1}, {1, 1})},
       .expect = {i8({1, 1}, {-56})}},
      {.name = "no_columns",
       .inputs = {f32({2, 0}, {}), f32({0, 2}, {})},
       .expect = {f32({2, 2}, {0, 0, 0, 0})}},
      {.name = "no_rows", .inputs = {uniform({0, 3}), uniform({3, 2})}},
      {.name = "no_batches", .inputs = {uniform({0, 2, 3}), uniform({3, 2})}},
      {.name = "boolean", .inputs = {boolean({1, 1}, {1}), boolean({1, 1}, {1})}, .error = "C1"},
      {.name = "no_axes", .inputs = {f32({}, {1}), f32({1})}, .error = "C2"},
      {.name = "transposed_vector",
       .attrs = {.transpose_a = true},
       .inputs = {uniform({3}), uniform({3, 2})},
       .error = "C3"},
      {.name = "inner_sizes_differ", .inputs = {uniform({2, 3}), uniform({2, 3})}, .error = "C4"},
      {.name = "batches_do_not_broadcast",
       .inputs = {uniform({2, 1, 1}), uniform({3, 1, 1})},
       .error = "C5"},
  };
}

}  // namespace

OpDef matmul_def() {
  return define<Attrs>({
      .name = "matmul",
      .summary = "Matrix products, with NumPy's rules for vectors and batches.",
      .formula = "y[..., i, j] = sum(a[..., i, k] * b[..., k, j] for k)",
      .details = "A vector on the left is a row, and one on the right is a column; the result "
                 "lacks this axis of size 1. The axes before the last two are broadcast. An empty "
                 "sum is 0. Integers wrap.",
      .inputs = {{"a", "matrices, or a vector"}, {"b", "matrices, or a vector"}},
      .outputs = {{"y", "the products"}},
      .attrs_doc = {{"transpose_a", "Whether to swap the last two axes of a first."},
                    {"transpose_b", "Whether to swap the last two axes of b first."}},
      .infer = infer,
      .vjp = vjp,
      .arrange = arrange,
      .cases = cases,
      .saves = Saves::kInputs,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kAccumulation,
      .onnx = "MatMul",
  });
}

}  // namespace ops
}  // namespace tenon
