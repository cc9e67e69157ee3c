// triangular_solve: solves systems of linear equations with a triangular matrix.

#include <limits>

#include "core/ops/linalg/linalg.h"

namespace tenon::ops {
namespace {

using Attrs = TriangularSolveAttrs;

// Constraints.
//   C1  a and b are float32 or float64, and of one dtype.
//   C2  a and b have two axes or more; the last two are the matrices.
//   C3  The matrices of a are square.
//   C4  The matrices of b have as many rows as those of a or, if left is false, as many columns.
//   C5  The leading axes broadcast; y has them, followed by the last two axes of b.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &a = in[0], &b = in[1];
  require_square(a, "a");
  require_matrices(b, "b");
  require(a.dtype == b.dtype, "C1: a and b must be of one dtype, but are {} and {}", a, b);
  const size_t ra = a.rank(), rb = b.rank();
  require(b.shape[attrs.left ? rb - 2 : rb - 1] == a.shape[ra - 1],
          "C4: a: {} does not match the {} of b: {}", a, attrs.left ? "rows" : "columns", b);
  TensorType batch_a = a, batch_b = b;
  batch_a.shape.set_rank(ra - 2);
  batch_b.shape.set_rank(rb - 2);
  TensorType y(a.dtype, require_broadcast(batch_a, batch_b, "C5"));
  y.shape.push_back(b.shape[rb - 2]);
  y.shape.push_back(b.shape[rb - 1]);
  check_size(y);
  return {y};
}

// Implements `arrange` (see OpDef).
void arrange(size_t, TypeSpan, const TensorTypes& out, StridedShape& operand) {
  broadcast_batches(out[0].shape, operand);
}

// db is the solution of the transposed system. da is -db y^T (for left = true), restricted to the
// triangle of a that the op reads.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor &a = v.input(0), &y = v.output(0);
  Attrs back = attrs;
  back.transpose = !attrs.transpose;
  const Tensor db = triangular_solve(a, v.cotangent(0), back);
  Tensors grads(2, Tensor());
  if (v.needs(0)) {
    const bool swaps = attrs.left == attrs.transpose;
    const Tensor da = attrs.left ? matmul(swaps ? y : db, swaps ? db : y, {.transpose_b = true})
                                 : matmul(swaps ? y : db, swaps ? db : y, {.transpose_a = true});
    const int64_t k = attrs.unit_diagonal ? 1 : 0;
    grads[0] = sum_to(-(attrs.lower ? tril(da, -k) : triu(da, k)), v.input_type(0));
  }
  if (v.needs(1)) grads[1] = sum_to(db, v.input_type(1));
  return grads;
}

Cases<Attrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const CaseTensor a = f32({2, 2}, {2, 9, 4, 5}), b = f32({2, 1}, {6, 22}),
                   row = f32({1, 2}, {6, 22});
  return {
      {.name = "example", .inputs = {a, b}, .expect = {f32({2, 1}, {3, 2})}},
      {.name = "upper",
       .attrs = {.lower = false},
       .inputs = {f32({2, 2}, {2, 3, 9, 4}), f32({2, 2}, {8, 2, 8, -4})},
       .expect = {f32({2, 2}, {1, 2.5, 2, -1})}},
      {.name = "transpose",
       .attrs = {.transpose = true},
       .inputs = {a, f32({2, 1}, {10, 5})},
       .expect = {f32({2, 1}, {3, 1})}},
      {.name = "upper_transposed",
       .attrs = {.lower = false, .transpose = true},
       .inputs = {f32({2, 2}, {2, 4, 9, 5}), b},
       .expect = {f32({2, 1}, {3, 2})}},
      {.name = "unit_diagonal",
       .attrs = {.unit_diagonal = true},
       .inputs = {f32({2, 2}, {kNaN, 9, 4, 0}), b},
       .expect = {f32({2, 1}, {6, -2})}},
      {.name = "upper_unit_diagonal",
       .attrs = {.lower = false, .unit_diagonal = true},
       .inputs = {f32({2, 2}, {3, 2, 5, 7}), b},
       .expect = {f32({2, 1}, {-38, 22})}},
      {.name = "right",
       .attrs = {.left = false},
       .inputs = {a, f32({1, 2}, {14, 10})},
       .expect = {f32({1, 2}, {3, 2})}},
      {.name = "right_transposed",
       .attrs = {.transpose = true, .left = false},
       .inputs = {a, row},
       .expect = {f32({1, 2}, {3, 2})}},
      {.name = "right_upper",
       .attrs = {.lower = false, .left = false},
       .inputs = {f32({2, 2}, {2, 4, 9, 5}), row},
       .expect = {f32({1, 2}, {3, 2})}},
      {.name = "right_upper_transposed_unit",
       .attrs = {.lower = false, .transpose = true, .unit_diagonal = true, .left = false},
       .inputs = {f32({2, 2}, {7, 3, 5, 7}), f32({1, 2}, {8, 2})},
       .expect = {f32({1, 2}, {2, 2})}},
      {.name = "one_matrix_for_all",
       .inputs = {a, f32({2, 2, 1}, {6, 22, 2, 14})},
       .expect = {f32({2, 2, 1}, {3, 2, 1, 2})}},
      {.name = "one_right_side_for_all",
       .inputs = {f64({2, 1, 2, 2}, {2, 0, 4, 5, 1, 0, 0, 2}), f64({1, 2, 1}, {6, 22})},
       .expect = {f64({2, 1, 2, 1}, {3, 2, 6, 11})}},
      {.name = "zero_on_the_diagonal",
       .inputs = {f32({1, 1}, {0}), f32({1, 2}, {1, 0})},
       .expect = {f32({1, 2}, {kInf, kNaN})}},
      {.name = "no_columns", .inputs = {a, f32({2, 0}, {})}, .expect = {f32({2, 0}, {})}},
      {.name = "no_equations",
       .inputs = {f32({0, 0}, {}), uniform({3, 0, 2})},
       .expect = {f32({3, 0, 2}, {})}},
      {.name = "half_types_are_refused",
       .inputs = {f16({1, 1}, {1}), f16({1, 1}, {1})},
       .error = "C1"},
      {.name = "right_side_is_a_vector", .inputs = {a, f32({1, 2})}, .error = "C2"},
      {.name = "not_square", .inputs = {uniform({2, 3}), b}, .error = "C3"},
      {.name = "rows_differ", .inputs = {a, uniform({3, 2})}, .error = "C4"},
      {.name = "columns_differ",
       .attrs = {.left = false},
       .inputs = {a, uniform({2, 3})},
       .error = "C4"},
      {.name = "batches_do_not_broadcast",
       .inputs = {uniform({2, 1, 1}), uniform({3, 1, 1})},
       .error = "C5"},
  };
}

}  // namespace

OpDef triangular_solve_def() {
  return define<Attrs>({
      .name = "triangular_solve",
      .summary = "The solutions of systems of linear equations whose matrix is triangular.",
      .formula = "a y = b, or y a = b with left false, where a may be transposed",
      .details = "The other triangle of a is not read. Elements of y that depend on a zero on the "
                 "diagonal of a are infinite or NaN.",
      .inputs = {{"a", "the triangular matrices, in the last two axes"},
                 {"b",
                  "the right-hand sides, one in each column, or in each row if left is false"}},
      .outputs = {{"y", "the solutions, arranged like b"}},
      .attrs_doc =
          {{"lower", "Whether the lower triangle of a is read; otherwise the upper one is."},
           {"transpose", "Whether a is transposed, after its triangle is selected."},
           {"unit_diagonal", "Whether the diagonal of a is taken to be ones and is not read."},
           {"left", "Whether a is the left factor of the product; otherwise it is the right one."}},
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
