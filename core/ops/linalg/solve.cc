// solve: solves systems of linear equations a y = b.

#include <limits>

#include "core/ops/linalg/linalg.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  a and b are float32 or float64, and of one dtype.
//   C2  a has two axes or more; the last two are the matrices. b has at least one axis; if it has
//       only one, it is one right-hand side for all matrices.
//   C3  The matrices of a are square.
//   C4  b has as many rows as the matrices of a.
//   C5  The leading axes broadcast; y has them, followed by the rows, and by the columns if b has
//       any.
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  const TensorType &a = in[0], &b = in[1];
  require_square(a, "a");
  require(a.dtype == b.dtype, "C1: a and b must be of one dtype, but are {} and {}", a, b);
  require(b.rank() >= 1, "C2: b must have at least one axis, but is {}", b);
  const size_t ra = a.rank(), rb = b.rank();
  const Size rows = b.shape[rb == 1 ? 0 : rb - 2];
  require(rows == a.shape[ra - 1], "C4: a: {} does not match {} rows of b: {}", a, rows, b);
  TensorType batch_a = a, batch_b = b;
  batch_a.shape.set_rank(ra - 2);
  batch_b.shape.set_rank(rb == 1 ? 0 : rb - 2);
  TensorType y(a.dtype, require_broadcast(batch_a, batch_b, "C5"));
  y.shape.push_back(rows);
  if (rb > 1) y.shape.push_back(b.shape[rb - 1]);
  check_size(y);
  return {y};
}

// Implements `arrange` (see OpDef). Kernels support only matrices, so a vector b becomes one
// column, and so does y.
void arrange(size_t i, TypeSpan in, const TensorTypes& out, StridedShape& operand) {
  Dims y = out[0].shape;
  if (in[1].rank() == 1) {
    y.push_back(1);
    if (i != 0) {
      operand.sizes.push_back(1);
      operand.strides.push_back(0);
    }
  }
  broadcast_batches(y, operand);
}

// db is the solution of the transposed system a^T db = dy, and da = -db y^T.
Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const bool is_vector = v.input_type(1).rank() == 1;
  const auto column = [&](const Tensor& x) { return is_vector ? expand_dims(x, {-1}) : x; };
  const Tensor db = solve(transposed(v.input(0)), column(v.cotangent(0)));
  Tensors grads(2, Tensor());
  if (v.needs(0)) {
    const Tensor da = -matmul(db, column(v.output(0)), {.transpose_b = true});
    grads[0] = sum_to(da, v.input_type(0));
  }
  if (v.needs(1)) grads[1] = sum_to(is_vector ? squeeze(db, {-1}) : db, v.input_type(1));
  return grads;
}

Cases<NoAttrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const CaseTensor a = f32({2, 2}, {1, 2, 3, 4});
  return {
      {.name = "example", .inputs = {a, f32({2, 1}, {5, 11})}, .expect = {f32({2, 1}, {1, 2})}},
      {.name = "two_right_sides",
       .inputs = {a, f32({2, 2}, {5, 4, 11, 10})},
       .expect = {f32({2, 2}, {1, 2, 2, 1})}},
      {.name = "vector", .inputs = {a, f32({5, 11})}, .expect = {f32({1, 2})}},
      {.name = "rows_change_places",
       .inputs = {f32({3, 3}, {0, 2, 0, 0, 0, 4, 5, 0, 0}), f32({2, 4, 5})},
       .expect = {f32({1, 1, 1})}},
      {.name = "batch",
       .inputs = {f64({2, 2, 2}, {1, 2, 3, 4, 2, 0, 0, 4}), f64({2, 2, 1}, {5, 11, 6, 8})},
       .expect = {f64({2, 2, 1}, {1, 2, 3, 2})}},
      {.name = "one_matrix_for_all",
       .inputs = {a, f32({2, 2, 1}, {5, 11, 3, 7})},
       .expect = {f32({2, 2, 1}, {1, 2, 1, 1})}},
      {.name = "one_vector_for_all",
       .inputs = {f32({2, 2, 2}, {1, 2, 3, 4, 5, 0, 0, 11}), f32({5, 11})},
       .expect = {f32({2, 2}, {1, 2, 1, 1})}},
      {.name = "drawn", .inputs = {uniform({3, 4, 4}), uniform({4, 2})}},
      {.name = "singular",
       .inputs = {f32({2, 2, 2}, {1, 2, 2, 4, 1, 0, 0, 1}), f32({2, 2, 1}, {1, 2, 3, 4})},
       .expect = {f32({2, 2, 1}, {kNaN, kNaN, 3, 4})}},
      {.name = "not_finite", .inputs = {f32({1, 1}, {kInf}), f32({1})}, .expect = {f32({kNaN})}},
      {.name = "no_columns", .inputs = {a, f32({2, 0}, {})}, .expect = {f32({2, 0}, {})}},
      {.name = "no_equations",
       .inputs = {f32({3, 0, 0}, {}), f32({0, 2}, {})},
       .expect = {f32({3, 0, 2}, {})}},
      {.name = "half_types_are_refused",
       .inputs = {f16({1, 1}, {1}), f16({1, 1}, {1})},
       .error = "C1"},
      {.name = "a_is_a_vector", .inputs = {f32({1}), f32({1})}, .error = "C2"},
      {.name = "no_right_side", .inputs = {a, f32({}, {1})}, .error = "C2"},
      {.name = "not_square", .inputs = {uniform({2, 3}), f32({1, 2})}, .error = "C3"},
      {.name = "rows_differ", .inputs = {a, uniform({3, 2})}, .error = "C4"},
      {.name = "batches_do_not_broadcast",
       .inputs = {uniform({2, 1, 1}), uniform({3, 1, 1})},
       .error = "C5"},
  };
}

}  // namespace

OpDef solve_def() {
  return define<NoAttrs>({
      .name = "solve",
      .summary = "The solutions of systems of linear equations.",
      .formula = "a y = b",
      .details =
          "The systems are solved by Gaussian elimination with partial pivoting. The solution is "
          "NaN if the matrix is not finite, or if it is singular so that a pivot is exactly 0.",
      .inputs = {{"a", "square matrices, in the last two axes"},
                 {"b", "the right-hand sides, as columns, or one vector for all matrices"}},
      .outputs = {{"y", "the solutions, arranged like b"}},
      .infer = infer,
      .vjp = vjp,
      .arrange = arrange,
      .cases = cases,
      .saves = Saves::kSome,
      .saved_inputs = 1,
      .saved_outputs = 1,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
