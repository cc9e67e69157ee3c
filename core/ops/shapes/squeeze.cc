// squeeze removes axes of size 1; expand_dims inserts them.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = AxesAttrs;

// Returns the elements of `values` for the axes that are not in the mask.
Dims remove_axes(const Dims& values, uint32_t mask) { return reduced_shape(values, mask, false); }

// Constraints of squeeze.
//   C1  -rank(x) <= axis < rank(x) for each of `axes`, none of them twice.
//   C2  those axes have size 1.
// Checks the constraints and returns the axes to remove, as a mask.
uint32_t squeezed_axes(const Attrs& attrs, const TensorType& x) {
  uint32_t mask = 0;
  if (attrs.axes.empty()) {
    for (size_t i = 0; i < x.rank(); ++i) mask |= (x.shape[i] == 1 ? 1u : 0u) << i;
    return mask;
  }
  mask = require_axes(attrs.axes, x, "C1");
  for (size_t i = 0; i < x.rank(); ++i) {
    require((mask >> i & 1) == 0 || x.shape[i] == 1, "C2: axis {} of {} must have size 1", i, x);
  }
  return mask;
}

// Constraints of expand_dims.
//   C1  axes is not empty.
//   C2  -rank(y) <= axis < rank(y) for each of `axes`, none of them twice.
// Checks the constraints and returns the axes of y to insert, as a mask.
uint32_t expanded_axes(const Attrs& attrs, const TensorType& x) {
  require(!attrs.axes.empty(), "C1: axes must not be empty");
  TensorType y(x.dtype, x.shape);
  for (size_t i = 0; i < attrs.axes.size(); ++i) y.shape.push_back(1);
  return require_axes(attrs.axes, y, "C2");
}

// Returns `values` with `value` inserted at each axis in the mask.
Dims insert_axes(const Dims& values, uint32_t mask, int64_t value) {
  Dims result = values;
  for (size_t i = 0; i < kMaxRank; ++i) {
    if (mask >> i & 1) result.insert(i, value);
  }
  return result;
}

TensorTypes squeeze_infer(const Attrs& attrs, TypeSpan in) {
  return {TensorType(in[0].dtype, remove_axes(in[0].shape, squeezed_axes(attrs, in[0])))};
}

// Sets `out` to the layout of the result as a view of the input. Always succeeds.
bool squeeze_view(const Attrs& attrs, size_t, const TensorType&, const TensorType& in_type,
                  const StridedLayout& in, StridedLayout& out) {
  out.offset = in.offset;
  out.strides = remove_axes(in.strides, squeezed_axes(attrs, in_type));
  return true;
}

TensorTypes expand_dims_infer(const Attrs& attrs, TypeSpan in) {
  return {TensorType(in[0].dtype, insert_axes(in[0].shape, expanded_axes(attrs, in[0]), 1))};
}

// Sets `out` to the layout of the result as a view of the input. Always succeeds.
bool expand_dims_view(const Attrs& attrs, size_t, const TensorType&, const TensorType& in_type,
                      const StridedLayout& in, StridedLayout& out) {
  out.offset = in.offset;
  out.strides = insert_axes(in.strides, expanded_axes(attrs, in_type), 0);
  return true;
}

Tensors vjp(const Attrs&, const VjpArgs& v) {
  return {reshape(v.cotangent(0), v.input_type(0).shape)};
}

Cases<Attrs> squeeze_cases() {
  return {
      {.name = "example", .inputs = {f32({1, 2, 1}, {3, 4})}, .expect = {f32({3, 4})}},
      {.name = "one_axis",
       .attrs = {.axes = {-1}},
       .inputs = {f32({1, 2, 1}, {3, 4})},
       .expect = {f32({1, 2}, {3, 4})}},
      {.name = "to_rank_0", .inputs = {i64({1, 1}, {5})}, .expect = {i64({}, {5})}},
      {.name = "no_elements", .inputs = {uniform({0, 1})}, .expect = {f32({0}, {})}},
      {.name = "axis_out_of_range",
       .attrs = {.axes = {2}},
       .inputs = {uniform({1, 2})},
       .error = "C1"},
      {.name = "axis_twice",
       .attrs = {.axes = {0, -2}},
       .inputs = {uniform({1, 2})},
       .error = "C1"},
      {.name = "axis_is_longer",
       .attrs = {.axes = {1}},
       .inputs = {uniform({1, 2})},
       .error = "C2"},
  };
}

Cases<Attrs> expand_dims_cases() {
  return {
      {.name = "example",
       .attrs = {.axes = {0}},
       .inputs = {f32({3, 4})},
       .expect = {f32({1, 2}, {3, 4})}},
      {.name = "two_axes",
       .attrs = {.axes = {-1, 0}},
       .inputs = {f32({3, 4})},
       .expect = {f32({1, 2, 1}, {3, 4})}},
      {.name = "from_rank_0",
       .attrs = {.axes = {0}},
       .inputs = {i64({}, {5})},
       .expect = {i64({5})}},
      {.name = "no_elements",
       .attrs = {.axes = {1}},
       .inputs = {uniform({0})},
       .expect = {f32({0, 1}, {})}},
      {.name = "no_axes", .inputs = {uniform({2})}, .error = "C1"},
      {.name = "axis_out_of_range",
       .attrs = {.axes = {2}},
       .inputs = {uniform({2})},
       .error = "C2"},
      {.name = "axis_twice", .attrs = {.axes = {0, -3}}, .inputs = {uniform({2})}, .error = "C2"},
  };
}

}  // namespace

OpDef squeeze_def() {
  return define<Attrs>({
      .name = "squeeze",
      .summary = "The input without some of its axes of size one.",
      .formula = "y[i, j] = x[i, 0, j]",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the elements of x with fewer axes"}},
      .attrs_doc = {{"axes", "The axes to remove; empty for all of size one."}},
      .infer = squeeze_infer,
      .vjp = vjp,
      .view = squeeze_view,
      .cases = squeeze_cases,
      .onnx = "Squeeze",
  });
}

OpDef expand_dims_def() {
  return define<Attrs>({
      .name = "expand_dims",
      .summary = "The input with new axes of size one.",
      .formula = "y[i, 0, j] = x[i, j]",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the elements of x with more axes"}},
      .attrs_doc =
          {{"axes",
            "The positions of the new axes in the result; negative ones count from its end."}},
      .infer = expand_dims_infer,
      .vjp = vjp,
      .view = expand_dims_view,
      .cases = expand_dims_cases,
      .onnx = "Unsqueeze",
  });
}

}  // namespace tenon::ops
