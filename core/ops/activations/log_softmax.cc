// log_softmax: the logarithm of softmax, accurate even where softmax underflows.

#include <cmath>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = LastAxisAttrs;

// Constraints.
//   C1  x is floating point.
//   C2  -rank(x) <= axis < rank(x).
//   C3  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  require_axis(attrs.axis, x, "C2");
  return {x};  // C3
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor& x = in[0];
  if (count(x->shape()) == 0) return {identity(x)};  // max() rejects empty tensors.
  const Along rows{.axes = {attrs.axis}, .keepdims = true};
  const Tensor shifted = x - max(x, rows);
  return {shifted - log(sum(exp(shifted), rows))};
}

// dx = dy - exp(y) * sum(dy). This needs only y, so the tape need not save x.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor &y = v.output(0), &dy = v.cotangent(0);
  return {dy - exp(y) * sum(dy, {.axes = {attrs.axis}, .keepdims = true})};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({1, 2, 3})},
       .expect = {f32({-2.4076059644443806, -1.4076059644443806, -0.4076059644443806})}},
      {.name = "axis",
       .attrs = {.axis = 0},
       .inputs = {f32({2, 2}, {0, 1, 1, -1})},
       .expect = {f32({2, 2}, {-1.3132616875182228, -0.1269280110429726, -0.31326168751822286,
                               -2.1269280110429727})}},
      {.name = "inner_axis", .attrs = {.axis = 1}, .inputs = {uniform({2, 5, 3})}},
      {.name = "large_values_do_not_overflow",
       .inputs = {f32({1e4, 0})},
       .expect = {f32({0, -1e4})}},
      {.name = "minus_infinity_stays",
       .inputs = {f32({0, -INFINITY, 0})},
       .expect = {f32({-0.6931471805599453, -INFINITY, -0.6931471805599453})},
       .check_gradient = false},
      {.name = "no_rows", .inputs = {uniform({0, 4})}},
      {.name = "empty_rows", .inputs = {f32({2, 0}, {})}, .expect = {f32({2, 0}, {})}},
      {.name = "integers", .inputs = {i32({1, 2})}, .error = "C1"},
      {.name = "axis_out_of_range",
       .attrs = {.axis = -3},
       .inputs = {uniform({2, 3})},
       .error = "C2"},
  };
}

}  // namespace

OpDef log_softmax_def() {
  return define<Attrs>({
      .name = "log_softmax",
      .summary = "The logarithm of softmax along one axis.",
      .formula = "y[i] = x[i] - log(sum(exp(x[j]) for j along axis))",
      .inputs = {{"x", "the logits"}},
      .outputs = {{"y", "the logarithms of the probabilities"}},
      .attrs_doc = {{"axis", "The axis to normalise over; negative values count from the end."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kOutputs,
      .numeric = Numeric::kComposite,
      .onnx = "LogSoftmax",
  });
}

}  // namespace tenon::ops
