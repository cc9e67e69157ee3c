// diagonal: the elements whose indices along two axes are equal, or differ by `offset`.

#include <algorithm>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t offset = 0;  // Offset from the main diagonal; positive: to the right.
  int64_t axis1 = 0;   // The axis of rows; a negative one counts from the end.
  int64_t axis2 = 1;   // The axis of columns.
  TENON_ATTRS(offset, axis1, axis2)
};

// The two axes, the first element and the number of elements of a diagonal.
struct Line {
  size_t rows = 0, columns = 0;  // The axes of rows and columns.
  Size row = 0, column = 0;      // Indices of the first element.
  Size size = 0;
};

// Returns the diagonal that the attributes select.
Line diagonal_of(const Attrs& attrs, const TensorType& x) {
  Line line{.rows = static_cast<size_t>(from_front(attrs.axis1, x.rank())),
            .columns = static_cast<size_t>(from_front(attrs.axis2, x.rank()))};
  const Size n_rows = x.shape[line.rows], n_columns = x.shape[line.columns];
  // A diagonal outside the matrix is empty. Bounding the offset prevents overflow.
  constexpr int64_t kBeyond = int64_t{1} << 60;
  const bool is_below = attrs.offset < 0;
  line.row = is_below ? least(-std::max(attrs.offset, -kBeyond), n_rows) : Size(0);
  line.column = is_below ? Size(0) : least(std::min(attrs.offset, kBeyond), n_columns);
  line.size = least(n_rows - line.row, n_columns - line.column);
  return line;
}

// Removes the entries of the axes of rows and columns from `values`, which has one per axis.
Dims without_matrix_axes(const Dims& values, const Line& line) {
  Dims result = values;
  result.erase(std::max(line.rows, line.columns));
  result.erase(std::min(line.rows, line.columns));
  return result;
}

// Constraints.
//   C1  x has at least two axes.
//   C2  axis1 and axis2 are two of them: -rank(x) <= axis < rank(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(x.rank() >= 2, "C1: x must have two axes or more, but is {}", x);
  require_axes({attrs.axis1, attrs.axis2}, x, "C2");
  const Line line = diagonal_of(attrs, x);
  TensorType y(x.dtype, without_matrix_axes(x.shape, line));
  y.shape.push_back(line.size);
  return {y};
}

// Sets `out` to the layout of the result as a view of the input. Always succeeds.
bool view(const Attrs& attrs, size_t, const TensorType& type, const TensorType& in_type,
          const StridedLayout& in, StridedLayout& out) {
  const Line line = diagonal_of(attrs, in_type);
  out.offset = in.offset;
  out.strides = without_matrix_axes(in.strides, line);
  out.strides.push_back(in.strides[line.rows] + in.strides[line.columns]);
  if (count(type.shape) == 0) return true;
  out.offset += line.row * in.strides[line.rows] + line.column * in.strides[line.columns];
  return true;
}

// Writes the cotangent to the diagonal of a zero matrix. In a row-major matrix with m columns,
// successive elements of the diagonal are m + 1 elements apart. So m zeros are appended to each
// element of the cotangent, and zeros past the end of the matrix are cropped.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& x = v.input_type(0);
  const Line line = diagonal_of(attrs, x);
  if (line.size == 0) return {zeros(x)};
  const Size rows = x.shape[line.rows], columns = x.shape[line.columns];
  const Dims others = without_matrix_axes(x.shape, line);
  const Size n = count(others), before = line.row * columns + line.column;

  const Tensor apart = pad(reshape(v.cotangent(0), {n, line.size, 1}), {0, 0, 0, 0, 0, columns});
  const Size length = line.size * (columns + 1);
  const Tensor flat =
      pad(reshape(apart, {n, length}), {0, before, 0, rows * columns - before - length});

  Dims shape{others};
  shape.push_back(rows);
  shape.push_back(columns);
  Ints perm;  // Moves the axes of rows and columns from the end to their original positions.
  int64_t next = 0;
  for (size_t i = 0; i < x.rank(); ++i) {
    const auto last = static_cast<int64_t>(x.rank()) - 1;
    perm.push_back(i == line.rows ? last - 1 : i == line.columns ? last : next++);
  }
  return {transpose(reshape(flat, shape), perm)};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  const CaseTensor cube = i32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  return {
      {.name = "example", .inputs = {x}, .expect = {f32({1, 5})}},
      {.name = "upper", .attrs = {.offset = 1}, .inputs = {x}, .expect = {f32({2, 6})}},
      {.name = "lower", .attrs = {.offset = -1}, .inputs = {x}, .expect = {f32({4})}},
      {.name = "tall",
       .attrs = {.offset = -1},
       .inputs = {f32({3, 2}, {1, 2, 3, 4, 5, 6})},
       .expect = {f32({3, 6})}},
      {.name = "axes",
       .attrs = {.axis1 = -2, .axis2 = -1},
       .inputs = {cube},
       .expect = {i32({2, 2}, {1, 4, 5, 8})}},
      {.name = "columns_come_first",
       .attrs = {.offset = 1, .axis1 = 2, .axis2 = 0},
       .inputs = {cube},
       .expect = {i32({2, 1}, {5, 7})}},
      {.name = "first_axes_by_default", .inputs = {cube}, .expect = {i32({2, 2}, {1, 7, 2, 8})}},
      {.name = "four_axes",
       .attrs = {.offset = -1, .axis1 = 3, .axis2 = 1},
       .inputs = {uniform({2, 3, 2, 4})}},
      {.name = "far_outside",
       .attrs = {.offset = -9223372036854775807ll - 1},
       .inputs = {x},
       .expect = {f32({0}, {})}},
      {.name = "no_elements", .inputs = {uniform({0, 3, 2})}, .expect = {f32({2, 0}, {})}},
      {.name = "one_axis", .inputs = {uniform({3})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axis2 = 2}, .inputs = {x}, .error = "C2"},
      {.name = "axis_twice", .attrs = {.axis2 = -2}, .inputs = {x}, .error = "C2"},
  };
}

}  // namespace

OpDef diagonal_def() {
  return define<Attrs>({
      .name = "diagonal",
      .summary = "The diagonals of the matrices that two axes form.",
      .formula = "y[..., i] = x[..., i - min(offset, 0), ..., i + max(offset, 0), ...]",
      .details = "The diagonals are along the last axis of the result.",
      .inputs = {{"x", "the matrices"}},
      .outputs = {{"y", "a view of the diagonals"}},
      .attrs_doc =
          {{"offset",
            "The offset of the diagonal: positive right of the main one, negative left of it."},
           {"axis1", "The axis of the rows; a negative one counts from the end."},
           {"axis2", "The axis of the columns."}},
      .infer = infer,
      .vjp = vjp,
      .view = view,
      .cases = cases,
  });
}

}  // namespace tenon::ops
