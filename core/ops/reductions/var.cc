// var: the mean of squared differences from the mean.

#include <algorithm>

#include "core/ops/reductions/reduction.h"
#include "core/ops/reductions/square_scale.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Ints axes;              // The axes to reduce, negative ones from the end; empty for all.
  bool keepdims = false;  // Whether reduced axes remain, with size 1.
  double correction = 0;  // The divisor is the number of elements minus this.
  TENON_ATTRS(axes, keepdims, correction)
};

// Constraints.
//   C1  x is floating point.
//   C2  the axes are axes of x; see reduction.h.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  return infer_reduced_floating({.axes = attrs.axes, .keepdims = attrs.keepdims}, in);
}

// Returns the number of reduced elements minus attrs.correction, but at least 0.
Tensor divisor(const Attrs& attrs, const Tensor& x) {
  const Size n = count_reduced(attrs.axes, x->shape());
  if (!n.known()) {
    return maximum(count_as(x->type.dtype, n) - number(attrs.correction), number(0));
  }
  return number(std::max(0.0, static_cast<double>(n) - attrs.correction));
}

// Returns 2 / divisor.
Tensor two_over_divisor(const Attrs& attrs, const Tensor& x) {
  const Tensor n = divisor(attrs, x);
  return n->is_scalar_value() ? number(2 / n->float_value) : number(2) / n;
}

Tensor subtract_mean(const Attrs& attrs, const Tensor& x) {
  return x - mean(x, {.axes = attrs.axes, .keepdims = true});
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const DType dtype = in[0]->type.dtype;
  return {in_wide(in[0], [&](const Tensor& x) {
    const Along along{.axes = attrs.axes, .keepdims = true};
    const Tensor distances = subtract_mean(attrs, x);
    const SquareScale scale = square_scale(dtype, [&] { return mean(square(distances), along); });
    const Tensor variance = sum(square(scale.of(distances)), along) / divisor(attrs, x);
    const uint32_t mask = axes_mask(attrs.axes, x->rank());
    return reshape(scale.undo(scale.undo(variance)),
                   reduced_shape(x->shape(), mask, attrs.keepdims));
  })};
}

// The mean depends on x, too. But the differences from the mean sum to zero, so this dependence
// does not contribute to the derivative.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& type = v.input_type(0);
  const Tensor g = broadcast_along(v.cotangent(0), type, axes_mask(attrs.axes, type.rank()));
  return {in_wide(v.input(0), [&](const Tensor& x) {
    return cast(g, x->type.dtype) * subtract_mean(attrs, x) * two_over_divisor(attrs, x);
  })};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 2}, {1, 3, 2, 8});
  return {
      {.name = "example", .inputs = {f32({1, 2, 3, 4})}, .expect = {f32({}, {1.25})}},
      {.name = "rows", .attrs = {.axes = {-1}}, .inputs = {x}, .expect = {f32({1, 9})}},
      {.name = "keepdims",
       .attrs = {.axes = {0}, .keepdims = true},
       .inputs = {x},
       .expect = {f32({1, 2}, {0.25, 6.25})}},
      {.name = "correction",
       .attrs = {.correction = 1},
       .inputs = {f32({1, 2, 3, 6})},
       .expect = {f32({}, {4.66666667})}},
      {.name = "large_mean",
       .inputs = {f32({16777212, 16777214})},
       .expect = {f32({}, {1})},
       .check_gradient = false},
      {.name = "squares_would_overflow",
       .inputs = {f32({4e19, -4e19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})},
       .expect = {f32({}, {2e38})},
       .check_gradient = false},
      {.name = "rank_0", .inputs = {f64({}, {3})}, .expect = {f64({}, {0})}},
      {.name = "no_results", .attrs = {.axes = {0}}, .inputs = {uniform({3, 0})}},
      {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axes = {2}}, .inputs = {x}, .error = "C2"},
  };
}

}  // namespace

OpDef var_def() {
  return define_reduction<Attrs>({
      .name = "var",
      .summary = "The variance of the elements along some axes.",
      .formula = "y = sum((x[i] - mean(x))^2) / (n - correction)",
      .details = "The divisor is at least 0. f16 and bf16 are computed in f32. The sum of squares "
                 "does not overflow if the variance does not (see l2_norm).",
      .attrs_doc = {kAxesDoc,
                    kKeepdimsDoc,
                    {"correction", "Subtracted from the number of elements in the divisor."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kFirstInput,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
