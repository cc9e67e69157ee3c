// Shared by the linear algebra ops: type rules, and helpers for derivatives. All functions operate
// on matrices in the last two axes; the axes before them are batch axes.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon {

struct DiagonalAttrs {
  int64_t k = 0;  // Bounding diagonal of the triangle; positive: right of the main one.
  TENON_ATTRS(k)
};

struct TriangularSolveAttrs {
  bool lower = true;           // true: reads the lower triangle of a; false: the upper one.
  bool transpose = false;      // Whether to transpose the matrix; `lower` refers to a before that.
  bool unit_diagonal = false;  // Whether to take the diagonal of a as ones instead of reading it.
  bool left = true;            // true: solves a y = b; false: solves y a = b.
  TENON_ATTRS(lower, transpose, unit_diagonal, left)
};

// Requires x to be float32 or float64 (C1), and to have two axes or more (C2).
void require_matrices(const TensorType& x, const char* name = "x");
// Checks C1 and C2 as require_matrices() does, and requires the matrices of x to be square (C3).
void require_square(const TensorType& x, const char* name = "x");

// Implements `arrange` (see OpDef): broadcasts the batch axes of an operand to those of y. Batch
// axes are all axes but the last two. Broadcast axes get stride 0.
void broadcast_batches(const Dims& y, StridedShape& operand);

// ---- formulas

Tensor tril(const Tensor& x, int64_t k = 0);
Tensor triu(const Tensor& x, int64_t k = 0);
// Swaps the last two axes.
Tensor transposed(const Tensor& x);
// Returns one identity matrix with the size of the matrices of x.
Tensor identity_like(const Tensor& x);
// Multiplies each column of the matrices of x by its element of `scale`.
Tensor scale_columns(const Tensor& x, const Tensor& scale);
Tensor solve(const Tensor& a, const Tensor& b);
Tensor triangular_solve(const Tensor& a, const Tensor& b, const TriangularSolveAttrs& attrs);

// Converts the cotangent of a symmetric matrix for an op that reads only its lower triangle. Each
// element below the diagonal also represents its mirror image above the diagonal, so it receives
// the sum of both cotangents.
Tensor fold_to_lower(const Tensor& g);

}  // namespace tenon
