// unstack: splits a tensor into its slices along one axis, without that axis.

#include "core/ops/definition/formulas.h"
#include "core/ops/definition/op_ids.h"

namespace tenon::ops {
namespace {

using Attrs = AxisAttrs;

constexpr int64_t kMaxOutputs = 1 << 16;

// Constraints.
//   C1  -rank(x) <= axis < rank(x).
//   C2  that axis has from 1 to 65536 elements.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, x, "C1"));
  const int64_t n = x.shape[axis];
  require(n >= 1 && n <= kMaxOutputs, "C2: axis {} of {} must have from 1 to {} elements", axis, x,
          kMaxOutputs);
  TensorType slice(x.dtype, x.shape);
  slice.shape.erase(axis);
  TensorTypes slices;
  slices.resize(static_cast<size_t>(n), slice);
  return slices;
}

// Sets `out` to the layout of output `index` as a view of the input. Always succeeds.
bool view(const Attrs& attrs, size_t index, const TensorType&, const TensorType& in_type,
          const StridedLayout& in, StridedLayout& out) {
  const auto axis = static_cast<size_t>(from_front(attrs.axis, in_type.rank()));
  out = in;
  out.strides.erase(axis);
  if (count(in_type.shape) > 0) out.offset += static_cast<int64_t>(index) * in.strides[axis];
  return true;
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  Tensors slices;
  for (size_t i = 0; i < v.n_outputs(); ++i) slices.push_back(v.cotangent(i));
  return {call_single(OpId::k_stack, any_attrs(attrs), slices)};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  return {
      {.name = "example",
       .inputs = {x},
       .expect = {f32({1, 2, 3}), f32({4, 5, 6})},
       .n_outputs = 2},
      {.name = "last_axis",
       .attrs = {.axis = -1},
       .inputs = {x},
       .expect = {f32({1, 4}), f32({2, 5}), f32({3, 6})},
       .n_outputs = 3},
      {.name = "middle_axis", .attrs = {.axis = 1}, .inputs = {uniform({2, 3, 4})}, .n_outputs = 3},
      {.name = "to_rank_0",
       .inputs = {boolean({1, 0})},
       .expect = {boolean({}, {1}), boolean({}, {0})},
       .n_outputs = 2},
      {.name = "slices_of_nothing",
       .inputs = {uniform({2, 0})},
       .expect = {f32({0}, {}), f32({0}, {})},
       .n_outputs = 2},
      {.name = "axis_out_of_range", .attrs = {.axis = 2}, .inputs = {x}, .error = "C1"},
      {.name = "rank_0_has_no_axis", .inputs = {f32({}, {1})}, .error = "C1"},
      {.name = "no_slices", .inputs = {uniform({0, 2})}, .error = "C2"},
  };
}

}  // namespace

OpDef unstack_def() {
  return define<Attrs>({
      .name = "unstack",
      .summary = "The slices along one axis, each without that axis: the inverse of stack.",
      .formula = "slices[k] = x[..., k, ...]",
      .inputs = {{"x", "the input"}},
      .outputs = {{"slices", "views of x, one for each element along axis", true}},
      .attrs_doc = {{"axis", "The axis to slice along; a negative one counts from the end."}},
      .infer = infer,
      .vjp = vjp,
      .view = view,
      .cases = cases,
  });
}

}  // namespace tenon::ops
