// logsumexp: the logarithm of the sum of exponentials, computed without overflow.

#include <limits>

#include "core/ops/reductions/reduction.h"

namespace tenon::ops {
namespace {

using Attrs = ReduceAttrs;

constexpr double kInf = std::numeric_limits<double>::infinity();

// Constraints.
//   C1  x is floating point.
//   C2  the axes are valid for x; see reduction.h.

// Subtracts the maximum before exp(), unless it is infinite: the difference of two infinities would
// be NaN, and exp() gives the correct infinite result without it.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Dims& shape = in[0]->shape();
  const Dims reduced = reduced_shape(shape, axes_mask(attrs.axes, shape.rank()), attrs.keepdims);
  if (count(shape) == 0) return {fill(number(-kInf), reduced, in[0]->type.dtype)};
  return {in_wide(in[0], [&](const Tensor& x) {
    const Along rows{.axes = attrs.axes, .keepdims = true};
    const Tensor top = stop_gradient(max(x, rows));
    const Tensor outside = where(isfinite(top), top, number(0));
    return reshape(log(sum(exp(x - outside), rows)) + outside, reduced);
  })};
}

// dx = dy * exp(x - y), which is dy * softmax(x). Where y is -infinity, all elements of x are
// -infinity, too. The difference would be NaN, so 0 replaces y there.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& type = v.input_type(0);
  const uint32_t mask = axes_mask(attrs.axes, type.rank());
  const Tensor& y = v.output(0);
  const Tensor subtrahend = where(equal(y, number(-kInf)), number(0), y);
  return {broadcast_along(v.cotangent(0), type, mask) *
          exp(v.input(0) - reshape(subtrahend, reduced_shape(type.shape, mask, true)))};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 2}, {0, 0, 1, 2});
  return {
      {.name = "example", .inputs = {f32({1, 2, 3})}, .expect = {f32({}, {3.40760596})}},
      {.name = "rows",
       .attrs = {.axes = {-1}},
       .inputs = {x},
       .expect = {f32({0.693147181, 2.31326169})}},
      {.name = "keepdims",
       .attrs = {.axes = {1}, .keepdims = true},
       .inputs = {x},
       .expect = {f32({2, 1}, {0.693147181, 2.31326169})}},
      {.name = "large_values_do_not_overflow",
       .inputs = {f32({1000, 1000})},
       .expect = {f32({}, {1000.69315})}},
      {.name = "small_values_do_not_vanish",
       .inputs = {f32({-1000, -1000})},
       .expect = {f32({}, {-999.306853})}},
      {.name = "infinities",
       .attrs = {.axes = {1}},
       .inputs = {f32({3, 2}, {-kInf, -kInf, kInf, 1, -kInf, 1})},
       .expect = {f32({-kInf, kInf, 1})},
       .check_gradient = false},
      {.name = "rank_0", .inputs = {f64({}, {3})}, .expect = {f64({}, {3})}},
      {.name = "of_nothing",
       .inputs = {uniform({0})},
       .expect = {f32({}, {-kInf})},
       .check_gradient = false},
      {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axes = {2}}, .inputs = {x}, .error = "C2"},
  };
}

}  // namespace

OpDef logsumexp_def() {
  return define_reduction<Attrs>({
      .name = "logsumexp",
      .summary =
          "The logarithm of the sum of exponentials along some axes, computed without overflow.",
      .formula = "y = ln(sum(e^x[i]))",
      .details = "The result for no elements is -infinity. f16 and bf16 are computed in f32.",
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer_reduced_floating,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kInputsAndOutputs,
      .numeric = Numeric::kComposite,
      .onnx = "ReduceLogSumExp",
  });
}

}  // namespace tenon::ops
