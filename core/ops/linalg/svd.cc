// svd: factors matrices into orthonormal columns, a diagonal, and orthonormal rows.

#include <algorithm>
#include <limits>

#include "core/ops/linalg/linalg.h"

namespace tenon::ops {
namespace {

enum Output { kU, kS, kVh };

// Constraints.
//   C1  x is float32 or float64.
//   C2  x has two axes or more; the last two are the matrices, m by n.
//   C3  With k the smaller of m and n, u is m by k, s has k elements, and vh is k by n.
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  require_matrices(in[0]);
  TensorType u(in[0].dtype, in[0].shape), s = u, vh = u;
  Size &columns = u.shape[u.rank() - 1], &rows = vh.shape[vh.rank() - 2];
  columns = rows = least(columns, rows);
  s.shape = u.shape;
  s.shape.erase(s.rank() - 2);
  return {u, s, vh};  // C3
}

// Returns x - x^T, which is twice the antisymmetric part of x.
Tensor antisymmetric(const Tensor& x) { return x - transposed(x); }

// Returns p - p^T for p = vectors^T d_vectors, with element [i, j] divided by the difference of the
// squared singular values j and i; 0 on the diagonal. It describes a rotation of the singular
// vectors within the space that they span.
Tensor rotation_part(const Tensor& vectors, const Tensor& d_vectors, const Tensor& s) {
  const Tensor squares = square(s);
  const Tensor gaps = expand_dims(squares, {-2}) - expand_dims(squares, {-1});
  const Tensor diagonal = identity_like(gaps);
  const Tensor product = matmul(vectors, d_vectors, {.transpose_a = true});
  return antisymmetric(product) * (1.0 - diagonal) / (gaps + diagonal);
}

// dx = u (rotation_part(u) s + s rotation_part(v) + ds) v^T, plus a term for the component of du or
// dv outside the space that the vectors span. For a tall matrix, only du has such a component; for
// a wide one, only dv.
Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor &u = v.output(kU), &s = v.output(kS), &vh = v.output(kVh);
  if (!v.has_cotangent(kU) && !v.has_cotangent(kVh)) {
    return {matmul(scale_columns(u, v.cotangent(kS)), vh)};
  }
  const Tensor &du = v.cotangent(kU), &dvh = v.cotangent(kVh);
  const Tensor rows = expand_dims(s, {-1});
  const Tensor of_u = scale_columns(rotation_part(u, du, s), s);
  const Tensor of_v = rows * rotation_part(transposed(vh), transposed(dvh), s);
  const Tensor inner = of_u + of_v + scale_columns(identity_like(of_u), v.cotangent(kS));
  Tensor dx = matmul(matmul(u, inner), vh);
  const Size m = u->shape()[u->rank() - 2], n = vh->shape()[vh->rank() - 1];
  if (m > n) {
    const Tensor beyond = du - matmul(u, matmul(u, du, {.transpose_a = true}));
    dx = dx + matmul(beyond / expand_dims(s, {-2}), vh);
  }
  if (n > m) {
    const Tensor beyond = dvh - matmul(matmul(dvh, vh, {.transpose_b = true}), vh);
    dx = dx + matmul(u, beyond / rows);
  }
  return {dx};
}

Cases<NoAttrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const CaseTensor tall = f32({3, 2}, {1, 2, 3, 4, 5, 6}), wide = f32({2, 3}, {1, 3, 5, 2, 4, 6});
  return {
      {.name = "example",
       .inputs = {f32({2, 2}, {3, 0, 4, 5})},
       .expect = {f32({2, 2}, {0.316227766016838, 0.9486832980505138, 0.9486832980505138,
                               -0.316227766016838}),
                  f32({6.708203932499369, 2.23606797749979}),
                  f32({2, 2}, {0.7071067811865476, 0.7071067811865476, 0.7071067811865476,
                               -0.7071067811865476})},
       .n_outputs = 3},
      {.name = "diagonal",
       .inputs = {f32({2, 2}, {2, 0, 0, -3})},
       .expect = {f32({2, 2}, {0, 1, 1, 0}), f32({3, 2}), f32({2, 2}, {0, -1, 1, 0})},
       .n_outputs = 3},
      {.name = "tall",
       .inputs = {tall},
       .expect = {f32({3, 2}, {0.2298476964000714, 0.8834610176985254, 0.5247448187602937,
                               0.24078249213254635, 0.8196419411205158, -0.4018960334334318}),
                  f32({9.52551809156511, 0.5143005806586441}),
                  f32({2, 2}, {0.6196294838293405, 0.7848944532670524, -0.7848944532670524,
                               0.6196294838293405})},
       .n_outputs = 3},
      {.name = "wide",
       .inputs = {wide},
       .expect = {f32({2, 2}, {0.6196294838293405, 0.7848944532670524, 0.7848944532670524,
                               -0.6196294838293405}),
                  f32({9.52551809156511, 0.5143005806586441}),
                  f32({2, 3}, {0.2298476964000714, 0.5247448187602937, 0.8196419411205158,
                               -0.8834610176985254, -0.24078249213254635, 0.4018960334334318})},
       .n_outputs = 3},
      {.name = "column",
       .inputs = {f64({2, 1}, {-3, 4})},
       .expect = {f64({2, 1}, {-0.6, 0.8}), f64({5}), f64({1, 1}, {1})},
       .n_outputs = 3},
      {.name = "row",
       .inputs = {f32({1, 2}, {-3, 4})},
       .expect = {f32({1, 1}, {1}), f32({5}), f32({1, 2}, {-0.6, 0.8})},
       .n_outputs = 3},
      {.name = "ties_in_a_vector_make_its_first_element_positive",
       .inputs = {f32({2, 2}, {2, 1, 1, 2})},
       .expect = {f32({2, 2}, {0.7071067811865476, 0.7071067811865476, 0.7071067811865476,
                               -0.7071067811865476}),
                  f32({3, 1}),
                  f32({2, 2}, {0.7071067811865476, 0.7071067811865476, 0.7071067811865476,
                               -0.7071067811865476})},
       .n_outputs = 3},
      {.name = "batch",
       .inputs = {f32({2, 1, 1, 1}, {-2, 3})},
       .expect = {f32({2, 1, 1, 1}, {1, 1}), f32({2, 1, 1}, {2, 3}), f32({2, 1, 1, 1}, {-1, 1})},
       .n_outputs = 3},
      {.name = "more_rows", .inputs = {uniform({5, 3})}, .n_outputs = 3},
      {.name = "more_columns", .inputs = {uniform({2, 2, 4})}, .n_outputs = 3},
      {.name = "not_finite",
       .inputs = {f32({1, 2}, {kInf, 1})},
       .expect = {f32({1, 1}, {kNaN}), f32({kNaN}), f32({1, 2}, {kNaN, kNaN})},
       .n_outputs = 3},
      {.name = "no_columns",
       .inputs = {f32({2, 0}, {})},
       .expect = {f32({2, 0}, {}), f32({0}, {}), f32({0, 0}, {})},
       .n_outputs = 3},
      {.name = "no_rows",
       .inputs = {f32({0, 2}, {})},
       .expect = {f32({0, 0}, {}), f32({0}, {}), f32({0, 2}, {})},
       .n_outputs = 3},
      {.name = "no_matrices", .inputs = {uniform({0, 3, 2})}, .n_outputs = 3},
      {.name = "half_types_are_refused", .inputs = {f16({1, 1}, {1})}, .error = "C1"},
      {.name = "integers", .inputs = {i32({1, 1}, {1})}, .error = "C1"},
      {.name = "one_axis", .inputs = {f32({1})}, .error = "C2"},
  };
}

}  // namespace

OpDef svd_def() {
  return define<NoAttrs>({
      .name = "svd",
      .summary = "The singular values and vectors of matrices.",
      .formula = "x = u diag(s) vh, with u^T u = vh vh^T = 1 s >= 0 and s descending",
      .details =
          "In each column of u, the element of the largest magnitude is positive; among magnitudes "
          "within 0.1 % of the largest, the first element is. The vectors are therefore unique if "
          "the singular values are distinct and not 0. Otherwise they are any "
          "vectors that make u and vh orthonormal, and the derivative through them is not finite. "
          "The derivative through s alone is always finite. A matrix that is not finite gives NaN.",
      .inputs = {{"x", "the matrices, in the last two axes"}},
      .outputs = {{"u", "the left singular vectors, as columns"},
                  {"s", "the singular values, the largest first"},
                  {"vh", "the right singular vectors, as rows"}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kOutputs,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
