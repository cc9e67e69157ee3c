// transpose, moveaxis and swapaxes: permute the axes.

#include <utility>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct MoveaxisAttrs {
  Ints source;       // The axes to move; negative ones count from the end.
  Ints destination;  // The new index of each of these axes.
  TENON_ATTRS(source, destination)
};

struct SwapaxesAttrs {
  int64_t axis1 = -2;  // One axis; a negative one counts from the end.
  int64_t axis2 = -1;  // The other axis.
  TENON_ATTRS(axis1, axis2)
};

// Permutes `values`: element i of the result is element order[i].
Dims permute(const Dims& values, const Ints& order) {
  Dims result;
  for (const int64_t axis : order) result.push_back(values[static_cast<size_t>(axis)]);
  return result;
}

// Returns the permutation that undoes `order`.
Ints inverse_permutation(const Ints& order) {
  Ints result(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return result;
}

// ---- transpose

// Constraints.
//   C1  perm is empty or has as many entries as x has axes.
//   C2  perm lists each axis once.
// Checks the constraints and returns, for each axis of the result, the axis of x.
Ints permutation_of(const TransposeAttrs& attrs, const TensorType& x) {
  const size_t rank = x.rank();
  Ints order(rank, 0);
  if (attrs.perm.empty()) {
    for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(rank - 1 - i);
    return order;
  }
  require(attrs.perm.size() == rank, "C1: perm has {} entries, but needs one for each axis of {}",
          attrs.perm.size(), x);
  require_axes(attrs.perm, x, "C2");
  for (size_t i = 0; i < rank; ++i) order[i] = from_front(attrs.perm[i], rank);
  return order;
}

// ---- moveaxis

// Constraints.
//   C1  source and destination have the same length.
//   C2  source lists axes of x, each at most once.
//   C3  destination lists axes of x, each at most once.
// Checks the constraints and returns, for each axis of the result, the axis of x.
Ints permutation_of(const MoveaxisAttrs& attrs, const TensorType& x) {
  const size_t rank = x.rank();
  require(attrs.source.size() == attrs.destination.size(),
          "C1: source and destination must have the same length, but have {} and {}",
          attrs.source.size(), attrs.destination.size());
  if (!attrs.source.empty()) {
    require_axes(attrs.source, x, "C2");
    require_axes(attrs.destination, x, "C3");
  }

  constexpr int64_t kOpen = -1;
  Ints order(rank, kOpen);
  uint32_t moved = 0;
  for (size_t i = 0; i < attrs.source.size(); ++i) {
    const int64_t axis = from_front(attrs.source[i], rank);
    order[static_cast<size_t>(from_front(attrs.destination[i], rank))] = axis;
    moved |= 1u << axis;
  }
  int64_t next = 0;  // The other axes keep their order.
  for (int64_t& axis : order) {
    if (axis != kOpen) continue;
    while (moved >> next & 1) ++next;
    axis = next++;
  }
  return order;
}

// ---- swapaxes

// Constraints.
//   C1  -rank(x) <= axis < rank(x) for axis1 and axis2, which may be the same.
// Checks the constraint and returns, for each axis of the result, the axis of x.
Ints permutation_of(const SwapaxesAttrs& attrs, const TensorType& x) {
  const int64_t axis1 = require_axis(attrs.axis1, x, "C1");
  const int64_t axis2 = require_axis(attrs.axis2, x, "C1");
  Ints order;
  for (size_t i = 0; i < x.rank(); ++i) order.push_back(static_cast<int64_t>(i));
  std::swap(order[static_cast<size_t>(axis1)], order[static_cast<size_t>(axis2)]);
  return order;
}

// ---- functions of all three ops

template <class Attrs>
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  return {TensorType(in[0].dtype, permute(in[0].shape, permutation_of(attrs, in[0])))};
}

// Sets `out` to the layout of the result as a view of the input. Always succeeds.
template <class Attrs>
bool view(const Attrs& attrs, size_t, const TensorType&, const TensorType& in_type,
          const StridedLayout& in, StridedLayout& out) {
  out.offset = in.offset;
  out.strides = permute(in.strides, permutation_of(attrs, in_type));
  return true;
}

template <class Attrs>
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  return {transpose(v.cotangent(0), inverse_permutation(permutation_of(attrs, v.input_type(0))))};
}

Cases<TransposeAttrs> transpose_cases() {
  return {
      {.name = "example",
       .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6})},
       .expect = {f32({3, 2}, {1, 4, 2, 5, 3, 6})}},
      {.name = "perm",
       .attrs = {.perm = {1, 0, 2}},
       .inputs = {i32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
       .expect = {i32({2, 2, 2}, {1, 2, 5, 6, 3, 4, 7, 8})}},
      {.name = "cycle", .attrs = {.perm = {2, 0, 1}}, .inputs = {uniform({2, 3, 4})}},
      {.name = "negative_axes", .attrs = {.perm = {-1, 0}}, .inputs = {uniform({2, 3})}},
      {.name = "rank_0", .inputs = {f32({}, {1})}, .expect = {f32({}, {1})}},
      {.name = "no_elements", .inputs = {uniform({0, 3})}, .expect = {f32({3, 0}, {})}},
      {.name = "perm_is_too_short",
       .attrs = {.perm = {0}},
       .inputs = {uniform({2, 3})},
       .error = "C1"},
      {.name = "axis_twice",
       .attrs = {.perm = {0, -2}},
       .inputs = {uniform({2, 3})},
       .error = "C2"},
      {.name = "axis_out_of_range",
       .attrs = {.perm = {0, 2}},
       .inputs = {uniform({2, 3})},
       .error = "C2"},
  };
}

Cases<MoveaxisAttrs> moveaxis_cases() {
  return {
      {.name = "example",
       .attrs = {.source = {0}, .destination = {-1}},
       .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6})},
       .expect = {f32({3, 2}, {1, 4, 2, 5, 3, 6})}},
      {.name = "others_keep_their_order",
       .attrs = {.source = {2}, .destination = {0}},
       .inputs = {f32({1, 2, 3}, {1, 2, 3, 4, 5, 6})},
       .expect = {f32({3, 1, 2}, {1, 4, 2, 5, 3, 6})}},
      {.name = "two_axes",
       .attrs = {.source = {0, 1}, .destination = {-1, -2}},
       .inputs = {uniform({2, 3, 4})}},
      {.name = "nothing_moves", .inputs = {f32({1, 2})}, .expect = {f32({1, 2})}},
      {.name = "lengths_differ",
       .attrs = {.source = {0}, .destination = {0, 1}},
       .inputs = {uniform({2, 3})},
       .error = "C1"},
      {.name = "source_out_of_range",
       .attrs = {.source = {2}, .destination = {0}},
       .inputs = {uniform({2, 3})},
       .error = "C2"},
      {.name = "destination_twice",
       .attrs = {.source = {0, 1}, .destination = {1, -1}},
       .inputs = {uniform({2, 3})},
       .error = "C3"},
  };
}

Cases<SwapaxesAttrs> swapaxes_cases() {
  return {
      {.name = "example",
       .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6})},
       .expect = {f32({3, 2}, {1, 4, 2, 5, 3, 6})}},
      {.name = "outer_axes",
       .attrs = {.axis1 = 0, .axis2 = 2},
       .inputs = {i32({1, 2, 3}, {1, 2, 3, 4, 5, 6})},
       .expect = {i32({3, 2, 1}, {1, 4, 2, 5, 3, 6})}},
      {.name = "with_itself",
       .attrs = {.axis1 = 0, .axis2 = -1},
       .inputs = {f32({1, 2})},
       .expect = {f32({1, 2})}},
      {.name = "four_axes", .attrs = {.axis1 = -1, .axis2 = 1}, .inputs = {uniform({2, 3, 2, 4})}},
      {.name = "no_elements", .inputs = {uniform({0, 3})}, .expect = {f32({3, 0}, {})}},
      {.name = "one_axis_alone", .inputs = {f32({1, 2})}, .error = "C1"},
      {.name = "axis_out_of_range",
       .attrs = {.axis1 = 0, .axis2 = 2},
       .inputs = {uniform({2, 3})},
       .error = "C1"},
  };
}

}  // namespace

OpDef transpose_def() {
  return define<TransposeAttrs>({
      .name = "transpose",
      .summary = "The input with its axes permuted.",
      .formula = "y[i[perm[0]], i[perm[1]], ...] = x[i[0], i[1], ...]",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the input with its axes permuted"}},
      .attrs_doc = {{"perm", "Output axis i is input axis perm[i]; empty reverses the axes."}},
      .infer = infer<TransposeAttrs>,
      .vjp = vjp<TransposeAttrs>,
      .view = view<TransposeAttrs>,
      .cases = transpose_cases,
      .onnx = "Transpose",
  });
}

OpDef moveaxis_def() {
  return define<MoveaxisAttrs>({
      .name = "moveaxis",
      .summary = "The input with some axes moved to new positions; the others keep their order.",
      .formula = "axis source[k] of x is axis destination[k] of y",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the input with its axes permuted"}},
      .attrs_doc = {{"source", "The axes to move; negative ones count from the end."},
                    {"destination", "The new position of each of them."}},
      .infer = infer<MoveaxisAttrs>,
      .vjp = vjp<MoveaxisAttrs>,
      .view = view<MoveaxisAttrs>,
      .cases = moveaxis_cases,
  });
}

OpDef swapaxes_def() {
  return define<SwapaxesAttrs>({
      .name = "swapaxes",
      .summary = "The input with two axes interchanged.",
      .formula = "y[..., j, ..., i, ...] = x[..., i, ..., j, ...]",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the input with its axes permuted"}},
      .attrs_doc = {{"axis1", "The first axis; a negative one counts from the end."},
                    {"axis2", "The second axis; a negative one counts from the end."}},
      .infer = infer<SwapaxesAttrs>,
      .vjp = vjp<SwapaxesAttrs>,
      .view = view<SwapaxesAttrs>,
      .cases = swapaxes_cases,
  });
}

}  // namespace tenon::ops
