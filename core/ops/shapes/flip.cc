// flip: reverses the elements along some axes.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = AxesAttrs;

// Constraints.
//   C1  -rank(x) <= axis < rank(x) for each of `axes`, none of them twice.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require_axes(attrs.axes, in[0], "C1");
  return {TensorType(in[0].dtype, in[0].shape)};
}

// Sets `out` to the layout of the result as a view of the input. Always succeeds.
bool view(const Attrs& attrs, size_t, const TensorType&, const TensorType& in_type,
          const StridedLayout& in, StridedLayout& out) {
  const uint32_t mask = axes_mask(attrs.axes, in_type.rank());
  out = in;
  for (size_t i = 0; i < in_type.rank(); ++i) {
    if ((mask >> i & 1) == 0 || in_type.shape[i] < 2) continue;
    out.offset += (in_type.shape[i] - 1) * in.strides[i];
    out.strides[i] = -in.strides[i];
  }
  return true;
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) { return {flip(v.cotangent(0), attrs.axes)}; }

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 2}, {1, 2, 3, 4});
  return {
      {.name = "example", .inputs = {f32({1, 2, 3})}, .expect = {f32({3, 2, 1})}},
      {.name = "all_axes_by_default", .inputs = {x}, .expect = {f32({2, 2}, {4, 3, 2, 1})}},
      {.name = "one_axis",
       .attrs = {.axes = {-1}},
       .inputs = {x},
       .expect = {f32({2, 2}, {2, 1, 4, 3})}},
      {.name = "rank_0", .inputs = {i8({}, {1})}, .expect = {i8({}, {1})}},
      {.name = "no_elements", .inputs = {uniform({0, 2})}, .expect = {f32({0, 2}, {})}},
      {.name = "axis_out_of_range", .attrs = {.axes = {2}}, .inputs = {x}, .error = "C1"},
      {.name = "axis_twice", .attrs = {.axes = {1, -1}}, .inputs = {x}, .error = "C1"},
  };
}

}  // namespace

OpDef flip_def() {
  return define<Attrs>({
      .name = "flip",
      .summary = "The elements in reverse order along some axes.",
      .formula = "y[i] = x[size - 1 - i]",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "a view with reversed axes"}},
      .attrs_doc = {{"axes", "The axes to reverse; empty for all."}},
      .infer = infer,
      .vjp = vjp,
      .view = view,
      .cases = cases,
  });
}

}  // namespace tenon::ops
