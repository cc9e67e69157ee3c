// l2_norm: the Euclidean norm of elements along some axes.

#include <limits>

#include "core/ops/reductions/reduction.h"
#include "core/ops/reductions/square_scale.h"

namespace tenon::ops {
namespace {

using Attrs = ReduceAttrs;

// Constraints.
//   C1  x is floating point.
//   C2  the axes are valid for x; see reduction.h.

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const DType dtype = in[0]->type.dtype;
  return {in_wide(in[0], [&](const Tensor& x) {
    const Along along{.axes = attrs.axes, .keepdims = true};
    const SquareScale scale = square_scale(dtype, [&] { return sum(square(x), along); });
    const Tensor length = scale.undo(sqrt(sum(square(scale.of(x)), along)));
    const uint32_t mask = axes_mask(attrs.axes, x->rank());
    return reshape(length, reduced_shape(x->shape(), mask, attrs.keepdims));
  })};
}

// dx = dy * (x / y). Where y is 0, dx is 0.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& type = v.input_type(0);
  const uint32_t mask = axes_mask(attrs.axes, type.rank());
  const Tensor& y = v.output(0);
  const Tensor is_zero = equal(y, number(0));
  const auto in_rows = [&](const Tensor& t) {
    return reshape(t, reduced_shape(type.shape, mask, true));
  };
  const Tensor length = where(is_zero, number(1), y),
               cotangent = where(is_zero, number(0), v.cotangent(0));
  return {v.input(0) / in_rows(length) * in_rows(cotangent)};
}

Cases<Attrs> cases() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
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
      {.name = "squares_would_leave_the_range",
       .attrs = {.axes = {1}},
       .inputs = {f32({3, 2}, {3e30, 4e30, 3e-30, -4e-30, 3, 4})},
       .expect = {f32({5e30, 5e-30, 5})},
       .atol = 0,
       .check_gradient = false},
      {.name = "squares_would_leave_the_range_of_float64",
       .attrs = {.axes = {0}, .keepdims = true},
       .inputs = {f64({2, 2}, {3e300, 3e-300, 4e300, -4e-300})},
       .expect = {f64({1, 2}, {5e300, 5e-300})},
       .atol = 0,
       .check_gradient = false},
      {.name = "infinities_and_nan",
       .attrs = {.axes = {1}},
       .inputs = {f32({4, 2}, {kInf, 1, -kInf, 0, kNaN, 1, 1, 0})},
       .expect = {f32({kInf, kInf, kNaN, 1})},
       .check_gradient = false},
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
      .summary = "The Euclidean norm of elements along some axes.",
      .formula = "y = sqrt(sum(x[i]^2))",
      .details = "The derivative at zero is 0. f16 and bf16 are computed in f32. The squares "
                 "neither overflow nor underflow: x is multiplied by s before it is squared, and "
                 "the root is divided by s. s is a power of two, and is 1 where the sum of squares "
                 "is from 2^-96 to 2^96 (in f64, from 2^-880 to 2^960).",
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
