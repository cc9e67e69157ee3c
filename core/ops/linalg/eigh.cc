// eigh: the eigenvalues and eigenvectors of symmetric matrices.

#include <limits>

#include "core/ops/linalg/linalg.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is float32 or float64.
//   C2  x has two axes or more; the last two hold the matrices.
//   C3  The matrices are square.
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  require_square(in[0]);
  const TensorType vectors(in[0].dtype, in[0].shape);
  TensorType values = vectors;
  values.shape.erase(values.rank() - 1);
  return {values, vectors};
}

// dx = v (diag(dw) + (v^T dv) / gaps) v^T, where gaps[i, j] is the difference of the eigenvalues j
// and i. The quotient is 0 on the diagonal.
Tensors vjp(const NoAttrs&, const VjpArgs& args) {
  const Tensor &w = args.output(0), &v = args.output(1), &dw = args.cotangent(0);
  if (!args.has_cotangent(1)) {
    return {fold_to_lower(matmul(scale_columns(v, dw), v, {.transpose_b = true}))};
  }
  const Tensor gaps = expand_dims(w, {-2}) - expand_dims(w, {-1});
  const Tensor diagonal = identity_like(gaps);
  const Tensor product = matmul(v, args.cotangent(1), {.transpose_a = true});
  const Tensor turned = product * (1.0 - diagonal) / (gaps + diagonal);
  const Tensor inner = turned + scale_columns(diagonal, dw);
  return {fold_to_lower(matmul(matmul(v, inner), v, {.transpose_b = true}))};
}

Cases<NoAttrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return {
      {.name = "example",
       .inputs = {f32({2, 2}, {2, 2, 2, -1})},
       .expect = {f32({-2, 3}), f32({2, 2}, {-0.447213595499958, 0.8944271909999159,
                                             0.8944271909999159, 0.447213595499958})},
       .n_outputs = 2},
      {.name = "three",
       .inputs = {f32({3, 3}, {2, 1, 0, 1, 3, 1, 0, 1, 5})},
       .expect = {f32({1.300371851724682, 3.2391232782565544, 5.460504870018765}),
                  f32({3, 3}, {0.8097122815927786, 0.5744266346072235, 0.1200002603815343,
                               -0.5664975042065385, 0.7117854145923828, 0.41526148545381913,
                               0.15312282248436965, -0.40422217285469236, 0.9017526469088137})},
       .n_outputs = 2},
      {.name = "ties_in_a_vector_make_its_first_element_positive",
       .inputs = {f32({2, 2}, {2, 1, 1, 2})},
       .expect = {f32({1, 3}), f32({2, 2}, {0.7071067811865476, 0.7071067811865476,
                                            -0.7071067811865476, 0.7071067811865476})},
       .n_outputs = 2},
      {.name = "diagonal",
       .inputs = {f32({3, 3}, {5, 0, 0, 0, -7, 0, 0, 0, 1})},
       .expect = {f32({-7, 1, 5}), f32({3, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0})},
       .n_outputs = 2},
      {.name = "lower_triangle_alone_is_read",
       .inputs = {f64({2, 2}, {2, kNaN, 2, -1})},
       .expect = {f64({-2, 3}), f64({2, 2}, {-0.447213595499958, 0.8944271909999159,
                                             0.8944271909999159, 0.447213595499958})},
       .n_outputs = 2},
      {.name = "batch",
       .inputs = {f32({2, 1, 1, 1}, {-2, 3})},
       .expect = {f32({2, 1, 1}, {-2, 3}), f32({2, 1, 1, 1}, {1, 1})},
       .n_outputs = 2},
      {.name = "drawn", .inputs = {uniform({2, 4, 4})}, .n_outputs = 2},
      {.name = "not_finite",
       .inputs = {f32({1, 1}, {-kInf})},
       .expect = {f32({kNaN}), f32({1, 1}, {kNaN})},
       .n_outputs = 2},
      {.name = "no_elements",
       .inputs = {f32({3, 0, 0}, {})},
       .expect = {f32({3, 0}, {}), f32({3, 0, 0}, {})},
       .n_outputs = 2},
      {.name = "no_matrices", .inputs = {uniform({0, 2, 2})}, .n_outputs = 2},
      {.name = "half_types_are_refused", .inputs = {f16({1, 1}, {1})}, .error = "C1"},
      {.name = "integers", .inputs = {i32({1, 1}, {1})}, .error = "C1"},
      {.name = "one_axis", .inputs = {f32({1})}, .error = "C2"},
      {.name = "not_square", .inputs = {uniform({2, 3})}, .error = "C3"},
  };
}

}  // namespace

OpDef eigh_def() {
  return define<NoAttrs>({
      .name = "eigh",
      .summary = "The eigenvalues and eigenvectors of symmetric matrices.",
      .formula = "x = v diag(w) v^T, with v^T v = 1 and w ascending",
      .details =
          "Only the lower triangle of x is read, and the derivative is 0 elsewhere. In each column "
          "of v, the element of the largest magnitude is positive; among magnitudes within 0.1 % "
          "of "
          "the largest, the first element is. The eigenvectors are therefore unique if the "
          "eigenvalues are distinct. Otherwise, they are any vectors that "
          "make v orthonormal, and the derivative through v is not finite. The derivative through "
          "w alone is always finite. A matrix that is not finite gives NaN.",
      .inputs = {{"x", "the matrices, in the last two axes"}},
      .outputs = {{"w", "the eigenvalues in ascending order"},
                  {"v", "the eigenvectors, as columns"}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kOutputs,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
