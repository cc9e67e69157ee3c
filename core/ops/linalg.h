// What the ops of linear algebra share: their type rules, and the formulas that their derivatives
// are written in. All work on the last two axes, the matrices; the axes before are batches.

#pragma once

#include "core/ops/formulas.h"

namespace tenon {

struct DiagonalAttrs {
  int64_t k = 0;  // The diagonal that bounds what is kept: above 0 right of the main one.
  TENON_ATTRS(k)
};

struct TriangularSolveAttrs {
  bool lower = true;           // Whether a's lower triangle is read, else its upper one.
  bool transpose = false;      // Swap a's axes, after that choice.
  bool unit_diagonal = false;  // Whether a's diagonal counts as ones, and is not read.
  bool left = true;            // Whether a stands left of y, else right.
  TENON_ATTRS(lower, transpose, unit_diagonal, left)
};

// Constraints.
//   C1  the operands are float32 or float64, and of one dtype.
//   C2  the first one has two axes or more.
void require_matrices(const TensorType& x, const char* name = "x");
//   C3  its matrices are square.
void require_square(const TensorType& x, const char* name = "x");

// For `arrange`: the axes before an operand's matrices become those of y, all but its last two,
// with stride 0 where the operand repeats.
void broadcast_batches(const Dims& y, StridedShape& operand);

// ---- formulas

Tensor tril(const Tensor& x, int64_t k = 0);
Tensor triu(const Tensor& x, int64_t k = 0);
Tensor transposed(const Tensor& x);     // Swaps the last two axes.
Tensor identity_like(const Tensor& x);  // One matrix, as large as the square ones of x.
Tensor columns_times(const Tensor& x, const Tensor& scale);  // Scales each column of matrices.
Tensor solve(const Tensor& a, const Tensor& b);
Tensor triangular_solve(const Tensor& a, const Tensor& b, const TriangularSolveAttrs& attrs);

// What reaches the lower triangle of symmetric matrices where nothing else is read of them: an
// element below the diagonal stands for the one above it too.
Tensor onto_lower(const Tensor& g);

}  // namespace tenon
