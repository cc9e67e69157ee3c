// reshape: changes the shape and keeps the elements in row-major order.

#include <optional>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = ShapeAttrs;

// Constraints.
//   C1  at most one size of `shape` is -1; the others are not negative.
//   C2  the product of the sizes is the number of elements of x; -1 is replaced by the size that
//       makes it so.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  Dims shape = to_dims(attrs.shape);
  size_t open = shape.rank();
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (identical(shape[i], -1)) {
      require(open == shape.rank(), "C1: shape {} has more than one -1", shape);
      open = i;
    } else {
      require(shape[i] >= 0, "C1: size {} of shape {} is negative", shape[i], shape);
    }
  }

  const Size total = count(x.shape);
  TensorType y(x.dtype, shape);
  if (open == shape.rank()) {
    check_size(y);
    require(count(shape) == total, "C2: {} has {} elements, but shape {} has {}", x, total, shape,
            count(shape));
    return {y};
  }
  y.shape[open] = 1;
  check_size(y);
  const Size known = count(y.shape);
  require(known > 0, "C2: no size for -1 makes shape {} match the number of elements of x: {}",
          shape, x);
  require(total % known == 0,
          "C2: no size for -1 makes shape {} match the number of elements of x: {}", shape, x);
  y.shape[open] = total / known;
  return {y};
}

// Returns the stride of axes [first, last) if they can be treated as one axis, and nullopt
// otherwise.
std::optional<int64_t> stride_of_run(const Dims& shape, const Dims& strides, size_t first,
                                     size_t last) {
  int64_t stride = 1;    // Stride of the innermost axis with more than one element.
  int64_t elements = 1;  // Expected stride of the next outer axis, in units of `stride`.
  for (size_t k = last; k-- > first;) {
    if (shape[k] == 1) continue;
    if (elements == 1) stride = strides[k];
    if (strides[k] != stride * elements) return std::nullopt;
    elements *= shape[k];
  }
  return stride;
}

// Sets `out` to the layout of y as a view of x, or returns false if there is none. Splits the axes
// of x and y into the shortest runs with equal numbers of elements. y is a view if each run of x
// can be treated as one axis. Axes of size 1 do not matter.
bool view(const Attrs&, size_t, const TensorType& type, const TensorType& in_type,
          const StridedLayout& in, StridedLayout& out) {
  out.offset = in.offset;
  out.strides = dense_strides(type.shape);
  const Dims &from = in_type.shape, &to = type.shape;
  if (count(from) == 0) return true;

  size_t i = 0, j = 0;
  while (i < from.rank() || j < to.rank()) {
    // Find the shortest runs from[i..i_end) and to[j..j_end) with the same number of elements.
    size_t i_end = i, j_end = j;
    int64_t n = i_end < from.rank() ? int64_t{from[i_end++]} : 1;
    int64_t m = j_end < to.rank() ? int64_t{to[j_end++]} : 1;
    while (n != m) {
      if (n < m) {
        n *= from[i_end++];
      } else {
        m *= to[j_end++];
      }
    }

    const auto stride = stride_of_run(from, in.strides, i, i_end);
    if (!stride) return false;
    int64_t step = *stride;
    for (size_t k = j_end; k-- > j;) {
      out.strides[k] = step;
      step *= to[k];
    }
    i = i_end;
    j = j_end;
  }
  return true;
}

Tensors vjp(const Attrs&, const VjpArgs& v) {
  return {reshape(v.cotangent(0), v.input_type(0).shape)};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .attrs = {.shape = {3, 2}},
       .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6})},
       .expect = {f32({3, 2}, {1, 2, 3, 4, 5, 6})}},
      {.name = "infers_one_size",
       .attrs = {.shape = {2, -1}},
       .inputs = {i32({6}, {1, 2, 3, 4, 5, 6})},
       .expect = {i32({2, 3}, {1, 2, 3, 4, 5, 6})}},
      {.name = "to_rank_0", .inputs = {f32({1, 1}, {7})}, .expect = {f32({}, {7})}},
      {.name = "from_rank_0",
       .attrs = {.shape = {1, -1}},
       .inputs = {f32({}, {7})},
       .expect = {f32({1, 1}, {7})}},
      {.name = "ones_move", .attrs = {.shape = {1, 6, 1}}, .inputs = {uniform({2, 1, 3})}},
      {.name = "no_elements",
       .attrs = {.shape = {3, 0}},
       .inputs = {uniform({0, 5})},
       .expect = {f32({3, 0}, {})}},
      {.name = "two_open_sizes",
       .attrs = {.shape = {-1, -1}},
       .inputs = {uniform({4})},
       .error = "C1"},
      {.name = "negative_size",
       .attrs = {.shape = {-2, 2}},
       .inputs = {uniform({4})},
       .error = "C1"},
      {.name = "other_count", .attrs = {.shape = {5}}, .inputs = {uniform({4})}, .error = "C2"},
      {.name = "no_size_fits",
       .attrs = {.shape = {3, -1}},
       .inputs = {uniform({4})},
       .error = "C2"},
      {.name = "no_elements_leave_a_size_open",
       .attrs = {.shape = {0, -1}},
       .inputs = {uniform({0})},
       .error = "C2"},
  };
}

}  // namespace

OpDef reshape_def() {
  return define<Attrs>({
      .name = "reshape",
      .summary = "The same elements in row-major order, with a new shape.",
      .formula = "y[i] = x[j], where i and j are the same place in row-major order",
      .details = "The result is a view if strides can express it, and a copy otherwise. A size of "
                 "0 is an empty axis.",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the elements of x in the new shape"}},
      .attrs_doc = {{"shape", "The new shape; one of its sizes may be -1 and is then inferred."}},
      .infer = infer,
      .vjp = vjp,
      .view = view,
      .cases = cases,
      .onnx = "Reshape",
  });
}

}  // namespace tenon::ops
