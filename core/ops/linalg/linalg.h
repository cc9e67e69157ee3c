// Shared by the ops of linear algebra: type rules, and the functions that derivatives are written
// in. All work on the last two axes, the matrices; the axes before them are batches.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon {

struct DiagonalAttrs {
  int64_t k = 0;  // The diagonal that bounds the kept part; above 0 right of the main one.
  TENON_ATTRS(k)
};

struct TriangularSolveAttrs {
  bool lower = true;           // Whether a's lower triangle is read, else its upper one.
  bool transpose = false;      // Transpose a, after that choice.
  bool unit_diagonal = false;  // Whether a's diagonal counts as ones, and is not read.
  bool left = true;            // Whether a is the left factor of the product, else the right one.
  TENON_ATTRS(lower, transpose, unit_diagonal, left)
};

// Constraints.
//   C1  the operands are float32 or float64, and of one dtype.
//   C2  the first one has two axes or more.
void require_matrices(const TensorType& x, const char* name = "x");
//   C3  its matrices are square.
void require_square(const TensorType& x, const char* name = "x");

// For `arrange`: broadcasts the batch axes of an operand to those of y, which are all but its last
// two. The stride is 0 where the operand repeats.
void broadcast_batches(const Dims& y, StridedShape& operand);

// ---- formulas

Tensor tril(const Tensor& x, int64_t k = 0);
Tensor triu(const Tensor& x, int64_t k = 0);
Tensor transposed(const Tensor& x);     // Swaps the last two axes.
Tensor identity_like(const Tensor& x);  // One identity matrix, as large as the square ones of x.
Tensor columns_times(const Tensor& x, const Tensor& scale);  // Scales each column of matrices.
Tensor solve(const Tensor& a, const Tensor& b);
Tensor triangular_solve(const Tensor& a, const Tensor& b, const TriangularSolveAttrs& attrs);

// The cotangent of symmetric matrices of which only the lower triangle is read. An element below
// the diagonal stands for the one above it too.
Tensor fold_to_lower(const Tensor& g);

}  // namespace tenon
