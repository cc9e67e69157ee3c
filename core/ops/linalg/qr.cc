// qr: factors matrices into orthonormal columns and an upper triangular matrix.

#include <algorithm>
#include <limits>

#include "core/ops/linalg/linalg.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is float32 or float64.
//   C2  x has two axes or more; the last two are the matrices, m by n.
//   C3  With k the smaller of m and n, q is m by k and r is k by n.
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  require_matrices(in[0]);
  TensorType q(in[0].dtype, in[0].shape), r = q;
  Size &columns = q.shape[q.rank() - 1], &rows = r.shape[r.rank() - 2];
  columns = rows = least(columns, rows);
  return {q, r};  // C3
}

// Returns the cotangent of a matrix with at least as many rows as columns: dx = (dq + q s) r^-T,
// where the symmetric matrix s has the lower triangle of r dr^T - dq^T q.
Tensor tall_dx(const Tensor& q, const Tensor& r, const Tensor& dq, const Tensor& dr) {
  const Tensor m = matmul(r, dr, {.transpose_b = true}) - matmul(dq, q, {.transpose_a = true});
  const Tensor copy = tril(m) + transposed(tril(m, -1));
  return triangular_solve(r, dq + matmul(q, copy),
                          {.lower = false, .transpose = true, .left = false});
}

// A wide x is a square matrix, followed by more columns. These are q times the same columns of r,
// so their cotangent is q times the cotangent of the columns of r.
Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor &q = v.output(0), &r = v.output(1), &dq = v.cotangent(0), &dr = v.cotangent(1);
  const Size rows = r->shape()[r->rank() - 2], columns = r->shape()[r->rank() - 1];
  if (columns == rows) return {tall_dx(q, r, dq, dr)};
  const auto cut = [&](const Tensor& x, Size start, Size end) {
    return slice(x, {.starts = {start}, .ends = {end}, .axes = {-1}});
  };
  const Tensor behind = matmul(q, cut(dr, rows, columns));
  const Tensor more_dq =
      matmul(cut(v.input(0), rows, columns), cut(dr, rows, columns), {.transpose_b = true});
  const Tensor square = tall_dx(q, cut(r, 0, rows), dq + more_dq, cut(dr, 0, rows));
  const Tensor parts[] = {square, behind};
  return {concat(parts, -1)};
}

Cases<NoAttrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return {
      {.name = "example",
       .inputs = {f32({2, 2}, {3, 5, -4, 10})},
       .expect = {f32({2, 2}, {0.6, 0.8, -0.8, 0.6}), f32({2, 2}, {5, -5, 0, 10})},
       .n_outputs = 2},
      {.name = "tall",
       .inputs = {f32({3, 2}, {1, 0, -2, 3, 2, 3})},
       .expect = {f32({3, 2},
                      {1.0 / 3, 0, -2.0 / 3, 0.70710678118654757, 2.0 / 3, 0.70710678118654757}),
                  f32({2, 2}, {3, 0, 0, 4.2426406871192857})},
       .n_outputs = 2},
      {.name = "wide",
       .inputs = {f32({2, 3}, {3, 5, 1, -4, 10, 2})},
       .expect = {f32({2, 2}, {0.6, 0.8, -0.8, 0.6}), f32({2, 3}, {5, -5, -1, 0, 10, 2})},
       .n_outputs = 2},
      {.name = "column",
       .inputs = {f64({3, 1}, {-1, 2, -2})},
       .expect = {f64({3, 1}, {-1.0 / 3, 2.0 / 3, -2.0 / 3}), f64({1, 1}, {3})},
       .n_outputs = 2},
      {.name = "row",
       .inputs = {f32({1, 2}, {-2, 6})},
       .expect = {f32({1, 1}, {-1}), f32({1, 2}, {2, -6})},
       .n_outputs = 2},
      {.name = "batch",
       .inputs = {f32({2, 1, 2, 2}, {3, 5, -4, 10, 0, 2, -1, 7})},
       .expect = {f32({2, 1, 2, 2}, {0.6, 0.8, -0.8, 0.6, 0, 1, -1, 0}),
                  f32({2, 1, 2, 2}, {5, -5, 0, 10, 1, -7, 0, 2})},
       .n_outputs = 2},
      {.name = "identity",
       .inputs = {f32({2, 2}, {1, 0, 0, 1})},
       .expect = {f32({2, 2}, {1, 0, 0, 1}), f32({2, 2}, {1, 0, 0, 1})},
       .n_outputs = 2},
      {.name = "more_rows", .inputs = {uniform({5, 3})}, .n_outputs = 2},
      {.name = "more_columns", .inputs = {uniform({2, 2, 4})}, .n_outputs = 2},
      {.name = "not_finite",
       .inputs = {f32({2, 1}, {kInf, 1})},
       .expect = {f32({2, 1}, {kNaN, kNaN}), f32({1, 1}, {kNaN})},
       .n_outputs = 2},
      {.name = "no_columns",
       .inputs = {f32({2, 0}, {})},
       .expect = {f32({2, 0}, {}), f32({0, 0}, {})},
       .n_outputs = 2},
      {.name = "no_rows",
       .inputs = {f32({0, 2}, {})},
       .expect = {f32({0, 0}, {}), f32({0, 2}, {})},
       .n_outputs = 2},
      {.name = "no_matrices", .inputs = {uniform({0, 3, 2})}, .n_outputs = 2},
      {.name = "half_types_are_refused", .inputs = {bf16({1, 1}, {1})}, .error = "C1"},
      {.name = "integers", .inputs = {i32({1, 1}, {1})}, .error = "C1"},
      {.name = "one_axis", .inputs = {f32({1})}, .error = "C2"},
  };
}

}  // namespace

OpDef qr_def() {
  return define<NoAttrs>({
      .name = "qr",
      .summary = "The reduced QR factorisation of matrices.",
      .formula = "x = q r, with q^T q = 1, r upper triangular and its diagonal not negative",
      .details =
          "The factorisation of an m by n matrix is unique if its first min(m, n) columns are "
          "linearly independent, because the diagonal of r is then positive. If they are "
          "dependent, some columns of q are unspecified except that q is orthonormal, and the "
          "derivative is not finite. If a matrix is not finite, its factors are NaN.",
      .inputs = {{"x", "the m by n matrices, in the last two axes"}},
      .outputs = {{"q", "matrices of min(m, n) orthonormal columns"},
                  {"r", "upper triangular matrices of min(m, n) rows"}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kInputsAndOutputs,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
