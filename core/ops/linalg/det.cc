// det and slogdet: the determinants of matrices.

#include <limits>

#include "core/ops/linalg/linalg.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is float32 or float64.
//   C2  x has two axes or more; the last two hold the matrices.
//   C3  The matrices are square.
// Checks the constraints and returns the type of a result with one element for each matrix.
TensorType infer_one_per_matrix(const TensorType& x) {
  require_square(x);
  TensorType y(x.dtype, x.shape);
  y.shape.set_rank(x.rank() - 2);
  return y;
}

TensorTypes det_infer(const NoAttrs&, TypeSpan in) { return {infer_one_per_matrix(in[0])}; }

TensorTypes slogdet_infer(const NoAttrs&, TypeSpan in) {
  const TensorType each = infer_one_per_matrix(in[0]);
  return {each, each};
}

// Returns x^-T, the inverse transposed, with each matrix multiplied by its element of `scale`.
Tensor scaled_inverse(const Tensor& x, const Tensor& scale) {
  return solve(transposed(x), identity_like(x) * expand_dims(scale, {-2, -1}));
}

// dx = dy y x^-T.
Tensors det_vjp(const NoAttrs&, const VjpArgs& v) {
  return {scaled_inverse(v.input(0), v.cotangent(0) * v.output(0))};
}

// The sign is piecewise constant, so only the logarithm has a derivative.
Tensors slogdet_vjp(const NoAttrs&, const VjpArgs& v) {
  return {scaled_inverse(v.input(0), v.cotangent(1))};
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Cases<NoAttrs> with_error_cases(Cases<NoAttrs> cases) {
  cases.push_back({.name = "half_types_are_refused", .inputs = {f16({1, 1}, {1})}, .error = "C1"});
  cases.push_back({.name = "integers", .inputs = {i32({1, 1}, {1})}, .error = "C1"});
  cases.push_back({.name = "one_axis", .inputs = {f32({1})}, .error = "C2"});
  cases.push_back({.name = "not_square", .inputs = {uniform({2, 3})}, .error = "C3"});
  return cases;
}

Cases<NoAttrs> det_cases() {
  return with_error_cases({
      {.name = "example", .inputs = {f32({2, 2}, {1, 2, 3, 4})}, .expect = {f32({}, {-2})}},
      {.name = "three",
       .inputs = {f32({3, 3}, {2, 1, 0, 1, 3, 1, 0, 1, 5})},
       .expect = {f32({}, {23})}},
      {.name = "rows_change_places",
       .inputs = {f32({3, 3}, {0, 2, 0, 0, 0, 3, 4, 0, 0})},
       .expect = {f32({}, {24})}},
      {.name = "batch",
       .inputs = {f64({2, 1, 2, 2}, {1, 2, 3, 4, 0, 1, 1, 0})},
       .expect = {f64({2, 1}, {-2, -1})}},
      {.name = "one_element", .inputs = {f32({1, 1}, {-7})}, .expect = {f32({}, {-7})}},
      {.name = "singular",
       .inputs = {f32({2, 2}, {1, 2, 2, 4})},
       .expect = {f32({}, {0})},
       .check_gradient = false},
      {.name = "not_finite", .inputs = {f32({2, 2}, {1, kInf, 0, 1})}, .expect = {f32({}, {kNaN})}},
      {.name = "of_nothing", .inputs = {f32({2, 0, 0}, {})}, .expect = {f32({1, 1})}},
      {.name = "no_matrices", .inputs = {uniform({0, 2, 2})}, .expect = {f32({0}, {})}},
  });
}

Cases<NoAttrs> slogdet_cases() {
  constexpr double kLog2 = 0.6931471805599453;
  return with_error_cases({
      {.name = "example",
       .inputs = {f32({2, 2}, {1, 2, 3, 4})},
       .expect = {f32({}, {-1}), f32({}, {kLog2})},
       .n_outputs = 2},
      {.name = "batch",
       .inputs = {f64({2, 1, 2, 2}, {1, 2, 3, 4, 0, 1, -1, 0})},
       .expect = {f64({2, 1}, {-1, 1}), f64({2, 1}, {kLog2, 0})},
       .n_outputs = 2},
      {.name = "products_that_would_overflow",
       .inputs = {f32({2, 2}, {1e38, 0, 0, -1e38})},
       .expect = {f32({}, {-1}), f32({}, {174.99646706754748})},
       .check_gradient = false,
       .n_outputs = 2},
      {.name = "singular",
       .inputs = {f32({2, 2}, {1, 2, 2, 4})},
       .expect = {f32({}, {0}), f32({}, {-kInf})},
       .n_outputs = 2},
      {.name = "not_finite",
       .inputs = {f32({1, 1}, {kInf})},
       .expect = {f32({}, {kNaN}), f32({}, {kNaN})},
       .n_outputs = 2},
      {.name = "of_nothing",
       .inputs = {f32({2, 0, 0}, {})},
       .expect = {f32({1, 1}), f32({0, 0})},
       .n_outputs = 2},
  });
}

}  // namespace

OpDef det_def() {
  return define<NoAttrs>({
      .name = "det",
      .summary = "The determinants of matrices.",
      .formula = "y = det(x)",
      .details =
          "Computed by Gaussian elimination. The determinant of a matrix without elements is 1. A "
          "matrix that is not finite gives NaN. The derivative for a singular matrix is NaN.",
      .inputs = {{"x", "square matrices, in the last two axes"}},
      .outputs = {{"y", "the determinant of each matrix"}},
      .infer = det_infer,
      .vjp = det_vjp,
      .cases = det_cases,
      .saves = Saves::kInputsAndOutputs,
      .numeric = Numeric::kComposite,
      .onnx = "Det",
  });
}

OpDef slogdet_def() {
  return define<NoAttrs>({
      .name = "slogdet",
      .summary =
          "The signs of the determinants of matrices, and the logarithms of their absolute values.",
      .formula = "det(x) = sign * exp(logabsdet)",
      .details =
          "The outputs do not overflow where the determinant would. A singular matrix has the sign "
          "0 and the logarithm -inf; its derivative is NaN. A matrix that is not finite gives NaN.",
      .inputs = {{"x", "square matrices, in the last two axes"}},
      .outputs = {{"sign", "the sign of each determinant: -1, 0 or 1"},
                  {"logabsdet", "the logarithm of the absolute value of each determinant"}},
      .infer = slogdet_infer,
      .vjp = slogdet_vjp,
      .cases = slogdet_cases,
      .saves = Saves::kFirstInput,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
