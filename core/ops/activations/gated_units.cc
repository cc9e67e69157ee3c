// glu and swiglu: split a tensor into two halves and multiply one half by an activation of the
// other.

#include "core/ops/definition/formulas.h"
#include "core/ops/definition/op_ids.h"

namespace tenon::ops {
namespace {

using Attrs = LastAxisAttrs;

// Constraints.
//   C1  x is floating point.
//   C2  -rank(x) <= axis < rank(x).
//   C3  The size of x along axis is even.
//   y has the type of x, but half the size along axis.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, x, "C2"));
  require(x.shape[axis] % 2 == 0, "C3: x: {} has an odd size along axis {}", x, attrs.axis);
  TensorType y(x.dtype, x.shape);
  y.shape[axis] = x.shape[axis] / 2;
  return {y};
}

struct Halves {
  Tensor first, second;
};

// Splits x into two halves along the axis.
Halves halves_of(const Tensor& x, int64_t axis) {
  const Tensors halves =
      call_op(OpId::k_split, any_attrs(SplitAttrs{.axis = axis, .num_outputs = 2}), {&x, 1});
  return {halves[0], halves[1]};
}

Tensors glu_decompose(const Attrs& attrs, TensorSpan in) {
  const auto [first, second] = halves_of(in[0], attrs.axis);
  return {first * sigmoid(second)};
}

// The derivatives of glu and swiglu recompute the sigmoid from x, so that the tape saves only x.
Tensors glu_vjp(const Attrs& attrs, const VjpArgs& v) {
  const auto [first, second] = halves_of(v.input(0), attrs.axis);
  const Tensor gate = sigmoid(second), open = v.cotangent(0) * gate;
  return {concat(Tensors{open, open * first * (1.0 - gate)}, attrs.axis)};
}

Tensors swiglu_decompose(const Attrs& attrs, TensorSpan in) {
  const auto [first, second] = halves_of(in[0], attrs.axis);
  return {call1(OpId::k_silu, NoAttrs{}, {first}) * second};
}

Tensors swiglu_vjp(const Attrs& attrs, const VjpArgs& v) {
  const auto [first, second] = halves_of(v.input(0), attrs.axis);
  const Tensor gate = sigmoid(first), open = v.cotangent(0) * gate;
  const Tensor of_first = open * second * (1.0 + first * (1.0 - gate));
  return {concat(Tensors{of_first, open * first}, attrs.axis)};
}

// Returns the cases of one op, followed by the cases that both ops share.
Cases<Attrs> with_shared_cases(Cases<Attrs> cases) {
  return joined(
      std::move(cases),
      {
          {.name = "middle_axis", .attrs = {.axis = 1}, .inputs = {uniform({2, 4, 3})}},
          {.name = "no_rows", .inputs = {uniform({0, 4})}},
          {.name = "empty_halves", .inputs = {f32({2, 0}, {})}, .expect = {f32({2, 0}, {})}},
          {.name = "integers", .inputs = {i32({1, 2})}, .error = "C1"},
          {.name = "axis_out_of_range",
           .attrs = {.axis = 2},
           .inputs = {uniform({2, 2})},
           .error = "C2"},
          {.name = "odd_size", .inputs = {uniform({2, 3})}, .error = "C3"},
      });
}

// Defines glu or swiglu after setting the fields that both have in common.
OpDef define_gated_unit(Definition<Attrs> d) {
  d.inputs = {{"x", "the input, split into two halves along axis"}};
  d.outputs = {{"y", "the result, of the type of x with half the size along axis"}};
  d.attrs_doc = {{"axis", "The axis to split; a negative one counts from the end."}};
  d.infer = infer;
  d.saves = Saves::kFirstInput;
  d.numeric = Numeric::kComposite;
  return define(d);
}

}  // namespace

OpDef glu_def() {
  return define_gated_unit({
      .name = "glu",
      .summary = "The gated linear unit: the first half of x times the sigmoid of the second half.",
      .formula = "y = first * sigmoid(second), where x = concat(first, second)",
      .vjp = glu_vjp,
      .decompose = glu_decompose,
      .cases =
          [] {
            return with_shared_cases({
                {.name = "example",
                 .inputs = {f32({1, 2, 3, -4})},
                 .expect = {f32({0.9525741268224334, 0.03597241992418312})}},
                {.name = "first_axis",
                 .attrs = {.axis = 0},
                 .inputs = {f32({2, 2}, {1, 2, 0, 0})},
                 .expect = {f32({1, 2}, {0.5, 1})}},
                {.name = "far_out", .inputs = {f32({2, -3, 200, -200})}, .expect = {f32({2, 0})}},
            });
          },
  });
}

OpDef swiglu_def() {
  return define_gated_unit({
      .name = "swiglu",
      .summary = "The SwiGLU unit: the SiLU of the first half of x times the second half.",
      .formula = "y = silu(first) * second, where x = concat(first, second)",
      .details = "The first half is the gate. If the second half is the gate, swap the halves "
                 "before the call: concat(second, first).",
      .vjp = swiglu_vjp,
      .decompose = swiglu_decompose,
      .cases =
          [] {
            return with_shared_cases({
                {.name = "example",
                 .inputs = {f32({1, 2, 3, -4})},
                 .expect = {f32({2.193175735890015, -7.0463766238230585})}},
                {.name = "first_axis",
                 .attrs = {.axis = 0},
                 .inputs = {f32({2, 2}, {1, 2, 3, -4})},
                 .expect = {f32({1, 2}, {2.193175735890015, -7.0463766238230585})}},
                {.name = "far_out",
                 .inputs = {f32({200, -200, -2, 3})},
                 .expect = {f32({-400, 0})}},
            });
          },
  });
}

}  // namespace tenon::ops
