#include "core/ops/linalg/linalg.h"

#include "core/ops/definition/op_ids.h"

namespace tenon {

void require_matrices(const TensorType& x, const char* name) {
  const DType dtype = x.dtype;
  require(dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kF128,
          "C1: {} must be float32 or float64, but is {}: convert it with cast", name, x.dtype);
  require(x.rank() >= 2, "C2: {} must have two axes or more, but is {}", name, x);
}

void require_square(const TensorType& x, const char* name) {
  require_matrices(x, name);
  require(x.shape[x.rank() - 2] == x.shape[x.rank() - 1],
          "C3: the matrices of {} must be square, but its type is {}", name, x);
}

// Broadcasts the batch axes of an operand to those of y.
void broadcast_batches(const Dims& y, StridedShape& operand) {
  Dims &sizes = operand.sizes, &strides = operand.strides;
  while (sizes.rank() < y.rank()) {
    sizes.insert(0, 1);
    strides.insert(0, 0);
  }
  for (size_t axis = 0; axis + 2 < y.rank(); ++axis) {
    if (sizes[axis] == y[axis]) continue;
    sizes[axis] = y[axis];
    strides[axis] = 0;
  }
}

Tensor tril(const Tensor& x, int64_t k) { return call1(OpId::k_tril, DiagonalAttrs{.k = k}, {x}); }

Tensor triu(const Tensor& x, int64_t k) { return call1(OpId::k_triu, DiagonalAttrs{.k = k}, {x}); }

// Returns x with the last two axes swapped.
Tensor transposed(const Tensor& x) {
  Ints perm;
  for (size_t i = 0; i < x->rank(); ++i) perm.push_back(static_cast<int64_t>(i));
  std::swap(perm[x->rank() - 2], perm[x->rank() - 1]);
  return transpose(x, perm);
}

// Returns one identity matrix with the size of the matrices of x.
Tensor identity_like(const Tensor& x) {
  const Size n = x->shape()[x->rank() - 1];
  const Tensor row = iota({n, 1}, DType::kI64, 0), column = iota({1, n}, DType::kI64, 1);
  return cast(equal(row, column), x->type.dtype);
}

// Multiplies each column of the matrices of x by its element of `scale`.
Tensor scale_columns(const Tensor& x, const Tensor& scale) { return x * expand_dims(scale, {-2}); }

Tensor solve(const Tensor& a, const Tensor& b) { return call1(OpId::k_solve, NoAttrs{}, {a, b}); }

Tensor triangular_solve(const Tensor& a, const Tensor& b, const TriangularSolveAttrs& attrs) {
  return call1(OpId::k_triangular_solve, attrs, {a, b});
}

// Adds the elements above the diagonal to those below it, and sets them to zero.
Tensor fold_to_lower(const Tensor& g) { return tril(g) + transposed(triu(g, 1)); }

}  // namespace tenon
