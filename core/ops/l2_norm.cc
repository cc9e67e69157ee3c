// l2_norm: the Euclidean length of elements along some axes.

#include "core/ops/reduction.h"

namespace tenon::ops {
namespace {

using Attrs = ReduceAttrs;

// Constraints.
//   C1  x is floating point.
//   C2  the axes are x's; see reduction.h.

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  return {in_wide(in[0], [&](const Tensor& x) { return sqrt(sum(square(x), attrs)); })};
}

// dx = dy * x / y, and 0 where all of x is 0.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& type = v.input_type(0);
  const uint32_t mask = axes_mask(attrs.axes, type.rank());
  const Tensor& y = v.output(0);
  const Tensor is_zero = equal(y, number(0));
  const Tensor scale = where(is_zero, number(0), v.cotangent(0) / where(is_zero, number(1), y));
  return {v.input(0) * reshape(scale, reduced_shape(type.shape, mask, true))};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 2}, {3, 4, 0, 0});
  return {
      {.name = "example", .inputs = {f32({3, -4})}, .expect = {f32({}, {5})}},
      {.name = "rows",
       .attrs = {.axes = {-1}},
       .inputs = {x},
       .expect = {f32({5, 0})},
       .check_gradient = false},
      {.name = "keepdims",
       .attrs = {.axes = {0}, .keepdims = true},
       .inputs = {x},
       .expect = {f32({1, 2}, {3, 4})}},
      {.name = "halves_do_not_overflow",
       .inputs = {f16({3000, 4000})},
       .expect = {f16({}, {5000})}},
      {.name = "rank_0", .inputs = {f64({}, {-3})}, .expect = {f64({}, {3})}},
      {.name = "of_nothing",
       .inputs = {uniform({0})},
       .expect = {f32({}, {0})},
       .check_gradient = false},
      {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axes = {2}}, .inputs = {x}, .error = "C2"},
  };
}

}  // namespace

OpDef l2_norm_def() {
  return define_reduction<Attrs>({
      .name = "l2_norm",
      .summary = "The Euclidean length of elements along some axes.",
      .formula = "y = sqrt(sum(x[i]^2))",
      .details = "At zero its derivative is 0. f16 and bf16 are computed in f32.",
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer_reduced_floating,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kInputsAndOutputs,
      .numeric = Numeric::kComposite,
      .onnx = "ReduceL2",
  });
}

}  // namespace tenon::ops
