// cholesky: the Cholesky factor of symmetric positive definite matrices.

#include <limits>

#include "core/ops/linalg/linalg.h"

namespace tenon::ops {
namespace {

struct Attrs {
  bool upper = false;  // Whether to read and write the upper triangle instead of the lower one.
  TENON_ATTRS(upper)
};

// Constraints.
//   C1  x is float32 or float64.
//   C2  x has two axes or more; the last two hold the matrices.
//   C3  The matrices are square.
//   C4  type(y) = type(x).
TensorTypes infer(const Attrs&, TypeSpan in) {
  require_square(in[0]);
  return {TensorType(in[0].dtype, in[0].shape)};  // C4
}

// With x = l l^T, the cotangent of x is l^-T p l^-1, where p is the lower triangle of l^T dl with
// its diagonal halved. The op reads only the lower triangle of x, so fold_to_lower() adds the upper
// triangle of the cotangent to the lower one.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor l = attrs.upper ? transposed(v.output(0)) : v.output(0);
  const Tensor dl = attrs.upper ? transposed(v.cotangent(0)) : v.cotangent(0);
  const Tensor product = matmul(l, dl, {.transpose_a = true});
  const Tensor p = 0.5 * (tril(product) + tril(product, -1));
  const Tensor left = triangular_solve(l, p, {.transpose = true});
  const Tensor dx = fold_to_lower(triangular_solve(l, left, {.left = false}));
  return {attrs.upper ? transposed(dx) : dx};
}

Cases<Attrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const CaseTensor x = f32({3, 3}, {4, 2, -2, 2, 10, 2, -2, 2, 6});
  return {
      {.name = "example", .inputs = {x}, .expect = {f32({3, 3}, {2, 0, 0, 1, 3, 0, -1, 1, 2})}},
      {.name = "upper",
       .attrs = {.upper = true},
       .inputs = {x},
       .expect = {f32({3, 3}, {2, 1, -1, 0, 3, 1, 0, 0, 2})}},
      {.name = "lower_triangle_alone_is_read",
       .inputs = {f32({2, 2}, {4, kNaN, 2, 10})},
       .expect = {f32({2, 2}, {2, 0, 1, 3})}},
      {.name = "upper_triangle_alone_is_read",
       .attrs = {.upper = true},
       .inputs = {f32({2, 2}, {4, 2, 99, 10})},
       .expect = {f32({2, 2}, {2, 1, 0, 3})}},
      {.name = "batch",
       .inputs = {f64({2, 2, 2}, {2, 1, 1, 2, 9, -3, -3, 5})},
       .expect = {f64({2, 2, 2}, {1.4142135623730951, 0, 0.70710678118654746, 1.2247448713915892, 3,
                                  0, -1, 2})}},
      {.name = "one_element", .inputs = {f32({1, 1}, {9})}, .expect = {f32({1, 1}, {3})}},
      {.name = "not_positive_definite",
       .inputs = {f32({2, 2, 2}, {1, 2, 2, 1, 4, 0, 2, 10})},
       .expect = {f32({2, 2, 2}, {kNaN, 0, kNaN, kNaN, 2, 0, 1, 3})}},
      {.name = "singular",
       .attrs = {.upper = true},
       .inputs = {f32({2, 2}, {1, 1, 1, 1})},
       .expect = {f32({2, 2}, {kNaN, kNaN, 0, kNaN})}},
      {.name = "infinite", .inputs = {f32({1, 1}, {kInf})}, .expect = {f32({1, 1}, {kNaN})}},
      {.name = "no_elements", .inputs = {uniform({2, 0, 0})}, .expect = {f32({2, 0, 0}, {})}},
      {.name = "no_matrices", .inputs = {uniform({0, 2, 2})}, .expect = {f32({0, 2, 2}, {})}},
      {.name = "half_types_are_refused", .inputs = {f16({1, 1}, {1})}, .error = "C1"},
      {.name = "integers", .inputs = {i32({1, 1}, {1})}, .error = "C1"},
      {.name = "one_axis", .inputs = {f32({1})}, .error = "C2"},
      {.name = "not_square", .inputs = {uniform({2, 3})}, .error = "C3"},
  };
}

}  // namespace

OpDef cholesky_def() {
  return define<Attrs>({
      .name = "cholesky",
      .summary = "The Cholesky factors of symmetric positive definite matrices.",
      .formula = "x = y y^T, with y lower triangular and a positive diagonal",
      .details =
          "Only the triangle of x that y has is read, and the derivative is 0 elsewhere. A matrix "
          "that is not positive definite, or not finite, gives NaN in the triangle of its factor.",
      .inputs = {{"x", "the matrices, in the last two axes"}},
      .outputs = {{"y", "the factors, with zeros in the other triangle"}},
      .attrs_doc = {{"upper",
                     "Whether to read the upper triangle, so that x = y^T y with y upper "
                     "triangular, instead of the lower one."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kOutputs,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
