// inv: the inverse of each matrix.

#include <limits>

#include "core/ops/linalg/linalg.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is float32 or float64.
//   C2  x has two axes or more; the last two are the matrices.
//   C3  The matrices are square.
//   C4  type(y) = type(x).
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  require_square(in[0]);
  return {TensorType(in[0].dtype, in[0].shape)};  // C4
}

Tensors decompose(const NoAttrs&, TensorSpan in) { return {solve(in[0], identity_like(in[0]))}; }

// dx = -y^T dy y^T. This takes two matrix products instead of another elimination.
Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor& y = v.output(0);
  const Tensor left = matmul(y, v.cotangent(0), {.transpose_a = true});
  return {-matmul(left, y, {.transpose_b = true})};
}

Cases<NoAttrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return {
      {.name = "example",
       .inputs = {f32({2, 2}, {1, 2, 3, 4})},
       .expect = {f32({2, 2}, {-2, 1, 1.5, -0.5})}},
      {.name = "three",
       .inputs = {f32({3, 3}, {2, 0, 0, 0, 0, 4, 0, 5, 0})},
       .expect = {f32({3, 3}, {0.5, 0, 0, 0, 0, 0.2, 0, 0.25, 0})}},
      {.name = "batch",
       .inputs = {f64({2, 1, 2, 2}, {1, 2, 3, 4, 2, 1, 1, 1})},
       .expect = {f64({2, 1, 2, 2}, {-2, 1, 1.5, -0.5, 1, -1, -1, 2})}},
      {.name = "singular",
       .inputs = {f32({2, 1, 1}, {0, 4})},
       .expect = {f32({2, 1, 1}, {kNaN, 0.25})}},
      {.name = "no_elements", .inputs = {f32({0, 0}, {})}, .expect = {f32({0, 0}, {})}},
      {.name = "no_matrices", .inputs = {uniform({0, 2, 2})}, .expect = {f32({0, 2, 2}, {})}},
      {.name = "half_types_are_refused", .inputs = {f16({1, 1}, {1})}, .error = "C1"},
      {.name = "integers", .inputs = {i32({1, 1}, {1})}, .error = "C1"},
      {.name = "one_axis", .inputs = {f32({1})}, .error = "C2"},
      {.name = "not_square", .inputs = {uniform({2, 3})}, .error = "C3"},
  };
}

}  // namespace

OpDef inv_def() {
  return define<NoAttrs>({
      .name = "inv",
      .summary = "The inverses of matrices.",
      .formula = "y = x^-1",
      .details =
          "The inverse is NaN if the matrix is not finite, or is singular so that a pivot of its "
          "elimination is exactly 0. To solve linear systems, solve is faster and more accurate.",
      .inputs = {{"x", "square matrices, in the last two axes"}},
      .outputs = {{"y", "the inverses"}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kOutputs,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
