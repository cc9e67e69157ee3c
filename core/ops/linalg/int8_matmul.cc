// int8_matmul: matrix products of 8-bit integers, accumulated in 32 bits.

#include "core/ops/linalg/matmul.h"

namespace tenon::ops {
namespace {

enum Input { kA, kB, kZeroPointA, kZeroPointB };

bool is_byte(DType dtype) { return dtype == DType::kI8 || dtype == DType::kU8; }

// Requires a zero point to have one of three shapes: one element; one element for each row of a
// (column of b); or the shape of its operand with size 1 along the summed axis `inner`, that is,
// one element for each row (column) of every matrix.
void require_zero_point(const TensorType& zero_point, const TensorType& x, size_t outer,
                        size_t inner, const char* name) {
  require(zero_point.dtype == x.dtype, "C3: {} must be {}, the dtype of its operand, but is {}",
          name, x, zero_point);
  if (count(zero_point.shape) == 1 && zero_point.rank() <= 1) return;
  bool fits = x.rank() >= 2;
  if (fits && zero_point.rank() == 1) {
    fits = zero_point.shape[0] == x.shape[outer];
  } else if (fits) {
    Dims each = x.shape;
    each[inner] = 1;
    fits = zero_point.shape == each;
  }
  require(
      fits,
      "C3: {} must be one number or have one for each row of `a` or column of `b`: {}, but is {}",
      name, x, zero_point);
}

// Constraints.
//   C1  a and b are i8 or u8; their dtypes may differ.
//   C2  a and b have at least one axis.
//   C3  Each zero point has the dtype of its operand. It is one number, or a vector with one
//       element for each row of a (column of b), or has the shape of its operand with size 1 along
//       the summed axis.
//   C4  The number of columns of a equals the number of rows of b.
//   C5  The axes before the last two broadcast.
//   C6  y is i32 and has the batch axes, then the rows of a and the columns of b; a vector operand
//       adds no axis.
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  const TensorType &a = in[kA], &b = in[kB];
  require(is_byte(a.dtype) && is_byte(b.dtype), "C1: a and b must be i8 or u8, but are {} and {}",
          a, b);
  const TensorType y(DType::kI32, infer_product_shape(a, b, {}));
  const size_t ra = a.rank(), rb = b.rank();
  if (in.has(kZeroPointA)) require_zero_point(in[kZeroPointA], a, ra - 2, ra - 1, "a_zero_point");
  if (in.has(kZeroPointB)) require_zero_point(in[kZeroPointB], b, rb - 1, rb - 2, "b_zero_point");
  return {y};
}

// Converts a zero point to the layout that kernels receive. That of a has one column, with an entry
// for each row of a. That of b has one row, with an entry for each column of b. Both have the batch
// axes of y.
void arrange_zero_point(bool of_a, const Dims& x, const Dims& y, StridedShape& operand) {
  Dims &sizes = operand.sizes, &strides = operand.strides;
  if (sizes.rank() == 1 && x.rank() > 1 && of_a) {
    sizes.push_back(1);
    strides.push_back(0);
  }
  while (sizes.rank() < y.rank()) {
    sizes.insert(0, 1);
    strides.insert(0, 0);
  }
  const size_t inner = y.rank() - (of_a ? 1 : 2);
  for (size_t axis = 0; axis < y.rank(); ++axis) {
    const Size size = axis == inner ? Size(1) : y[axis];
    if (sizes[axis] != size) strides[axis] = 0;
    sizes[axis] = size;
  }
}

// Implements `arrange` (see OpDef): converts matrices and zero points to the layout of kernels.
void arrange(size_t i, TypeSpan in, const TensorTypes& out, StridedShape& operand) {
  const Dims &a = in[kA].shape, &b = in[kB].shape, &y = out[0].shape;
  const bool is_output = i >= in.size();
  if (is_output || i <= kB) {
    const ProductPart part = is_output ? ProductPart::kY
                             : i == kA ? ProductPart::kA
                                       : ProductPart::kB;
    arrange_product(part, a.rank(), b.rank(), y, operand);
    return;
  }
  StridedShape matrices{y, {}};
  matrices.strides.set_rank(y.rank());
  arrange_product(ProductPart::kY, a.rank(), b.rank(), y, matrices);
  arrange_zero_point(i == kZeroPointA, i == kZeroPointA ? a : b, matrices.sizes, operand);
}

Cases<NoAttrs> cases() {
  const CaseTensor a = u8({2, 3}, {1, 2, 3, 4, 5, 255}), b = i8({3, 2}, {1, 0, 0, -128, 1, 1});
  const CaseTensor batch = u8({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}),
                   square = i8({2, 2}, {1, 2, 3, -4});
  const CaseTensor columns = i8({2, 2, 1}, {1, 2, -1, 3}), each = i8({2, 1, 1}, {1, -2});
  return {
      {.name = "example", .inputs = {a, b}, .expect = {i32({2, 2}, {4, -253, 259, -385})}},
      {.name = "one_zero_point_each",
       .inputs = {a, b, u8({}, {2}), i8({}, {1})},
       .expect = {i32({2, 2}, {0, 1, -3, -389})}},
      {.name = "zero_points_of_one_element",
       .inputs = {a, b, u8({2}), i8({1})},
       .expect = {i32({2, 2}, {0, 1, -3, -389})}},
      {.name = "one_for_each_row",
       .inputs = {a, b, u8({1, 5})},
       .expect = {i32({2, 2}, {2, -126, 249, 250})}},
      {.name = "one_for_each_column",
       .inputs = {a, b, absent(), i8({1, -128})},
       .expect = {i32({2, 2}, {-2, 515, -5, 33407})}},
      {.name = "one_for_each_row_and_column",
       .inputs = {a, b, u8({2, 1}, {1, 5}), i8({1, 2}, {1, -128})},
       .expect = {i32({2, 2}, {-1, 258, 0, 32122})}},
      {.name = "batches_broadcast",
       .inputs = {batch, square},
       .expect = {i32({2, 2, 2}, {3, -4, 11, -8, 19, -12, 27, -16})}},
      {.name = "one_for_each_row_of_a_batch",
       .inputs = {batch, square, u8({2, 2, 1}, {0, 1, 2, 3})},
       .expect = {i32({2, 2, 2}, {3, -4, 7, -6, 11, -8, 15, -10})}},
      {.name = "rows_of_all_batches_alike",
       .inputs = {batch, square, u8({1, 2})},
       .expect = {i32({2, 2, 2}, {-1, -2, 3, -4, 15, -10, 19, -12})}},
      {.name = "one_for_each_column_of_a_batch",
       .inputs = {batch, columns, absent(), each},
       .expect = {i32({2, 2, 1}, {1, 3, 29, 41})}},
      {.name = "vector_on_the_left",
       .inputs = {i8({1, 2}), columns, absent(), each},
       .expect = {i32({2, 1}, {2, 11})}},
      {.name = "vectors",
       .inputs = {u8({1, 2, 3}), u8({4, 5, 6}), u8({}, {1}), u8({1}, {4})},
       .expect = {i32({}, {5})}},
      {.name = "extremes",
       .inputs = {u8({1, 2}, {255, 255}), u8({2, 1}, {255, 255})},
       .expect = {i32({1, 1}, {130050})}},
      {.name = "extremes_of_differences",
       .inputs = {u8({1, 2}, {255, 0}), i8({2, 1}, {-128, 127}), u8({}, {0}), i8({}, {127})},
       .expect = {i32({1, 1}, {-65025})}},
      {.name = "odd_sizes",
       .inputs = {uniform({2, 5, 37}, 0, 256, DType::kU8), uniform({37, 11}, -128, 128, DType::kI8),
                  uniform({5}, 0, 256, DType::kU8), uniform({11}, -128, 128, DType::kI8)}},
      {.name = "no_columns",
       .inputs = {u8({2, 0}, {}), i8({0, 2}, {}), u8({}, {3})},
       .expect = {i32({2, 2}, {0, 0, 0, 0})}},
      {.name = "no_rows", .inputs = {u8({0, 3}, {}), b}, .expect = {i32({0, 2}, {})}},
      {.name = "floats", .inputs = {uniform({2, 3}), b}, .error = "C1"},
      {.name = "sixteen_bits", .inputs = {a, i16({3, 1}, {1, 2, 3})}, .error = "C1"},
      {.name = "no_axes", .inputs = {u8({}, {1}), i8({1})}, .error = "C2"},
      {.name = "zero_point_of_another_dtype", .inputs = {a, b, i8({}, {1})}, .error = "C3"},
      {.name = "a_zero_point_too_many", .inputs = {a, b, u8({1, 2, 3})}, .error = "C3"},
      {.name = "zero_point_along_the_sums",
       .inputs = {a, b, absent(), i8({3, 1}, {1, 2, 3})},
       .error = "C3"},
      {.name = "inner_sizes_differ", .inputs = {a, i8({2, 2}, {1, 2, 3, 4})}, .error = "C4"},
      {.name = "batches_do_not_broadcast",
       .inputs = {u8({2, 1, 1}, {1, 2}), i8({3, 1, 1}, {1, 2, 3})},
       .error = "C5"},
  };
}

}  // namespace

OpDef int8_matmul_def() {
  return define<NoAttrs>({
      .name = "int8_matmul",
      .summary = "Matrix products of 8-bit integers, accumulated in 32 bits.",
      .formula = "y[..., i, j] = sum((a[..., i, k] - a_zero_point[i]) * "
                 "(b[..., k, j] - b_zero_point[j]) for k)",
      .details = "Vectors and batch axes are handled as in matmul. Sums wrap at 32 bits; an empty "
                 "sum is 0.",
      .inputs = {{"a", "matrices, or a vector"},
                 {"b", "matrices, or a vector"},
                 {"a_zero_point",
                  "the value that represents 0 in a, or in each row of a; 0 if absent",
                  InputKind::kOptional},
                 {"b_zero_point",
                  "the value that represents 0 in b, or in each column of b; 0 if absent",
                  InputKind::kOptional}},
      .outputs = {{"y", "the products, i32"}},
      .infer = infer,
      .arrange = arrange,
      .cases = cases,
      .no_gradient = "its result is an integer",
      .onnx = "MatMulInteger",
  });
}

}  // namespace tenon::ops
