// softmax: exponentials along one axis, divided by their sum.
//
// This file is the complete definition of softmax: its contract, its type rule, its derivative, its
// decomposition into simpler ops, and the cases that every device must pass. decompose() makes
// three passes over the data (max, exp and sum, scale). A device with a faster implementation lists
// softmax in its kernels.def, and its results must agree with this file.

#include <cmath>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = LastAxisAttrs;

// Constraints.  Messages and cases refer to these labels.
//   C1  x is floating point.
//   C2  -rank(x) <= axis < rank(x).
//   C3  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  require_axis(attrs.axis, x, "C2");
  return {x};  // C3
}

// Subtracting the maximum prevents overflow of exp() and does not change the quotient.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor& x = in[0];
  if (count(x->shape()) == 0) return {identity(x)};  // max() rejects empty tensors.
  const Along rows{.axes = {attrs.axis}, .keepdims = true};
  const Tensor e = exp(x - max(x, rows));
  return {e / sum(e, rows)};
}

// dx = y * (dy - sum(dy * y)).  This needs only y, so the tape need not save x.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor &y = v.output(0), &dy = v.cotangent(0);
  return {y * (dy - sum(dy * y, {.axes = {attrs.axis}, .keepdims = true}))};
}

// A case without `expect` is compared with the plugin `ref`. Every case also runs with strided
// inputs and in the half types, and its derivatives are compared with finite differences.
Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({1, 2, 3})},
       .expect = {f32({0.09003057317038046, 0.24472847105479764, 0.6652409557748219})}},
      {.name = "axis",
       .attrs = {.axis = 0},
       .inputs = {f32({2, 2}, {0, 1, 1, -1})},
       .expect = {f32({2, 2}, {0.2689414213699951, 0.8807970779778823, 0.7310585786300049,
                               0.11920292202211755})}},
      {.name = "inner_axis", .attrs = {.axis = 1}, .inputs = {uniform({2, 5, 3})}},
      {.name = "large_values_do_not_overflow",
       .inputs = {f32({1e4, 1e4})},
       .expect = {f32({0.5, 0.5})}},
      {.name = "no_weight_on_minus_infinity",
       .inputs = {f32({0, -INFINITY, 0})},
       .expect = {f32({0.5, 0, 0.5})},
       .check_gradient = false},
      {.name = "no_rows", .inputs = {uniform({0, 4})}},
      {.name = "empty_rows", .inputs = {f32({2, 0}, {})}, .expect = {f32({2, 0}, {})}},
      {.name = "integers", .inputs = {i32({1, 2})}, .error = "C1"},
      {.name = "axis_out_of_range",
       .attrs = {.axis = 2},
       .inputs = {uniform({2, 3})},
       .error = "C2"},
  };
}

}  // namespace

OpDef softmax_def() {
  return define<Attrs>({
      .name = "softmax",
      .summary = "Exponentials along one axis, scaled to sum to one.",
      .formula = "y[i] = exp(x[i]) / sum(exp(x[j]) for j along axis)",
      .inputs = {{"x", "the logits"}},
      .outputs = {{"y", "the probabilities"}},
      .attrs_doc = {{"axis", "The axis to normalise; a negative one counts from the end."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kOutputs,
      .numeric = Numeric::kComposite,
      .onnx = "Softmax",
  });
}

}  // namespace tenon::ops
