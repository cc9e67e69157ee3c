// fake_quantize: rounds x to quantised integers and converts these back to real numbers.

#include <limits>

#include "core/ops/quantization/quantization.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t quant_min = 0;    // The smallest quantised integer.
  int64_t quant_max = 255;  // The largest quantised integer.
  int64_t axis = 1;         // The axis along which scale varies, if it is not 0-d.
  TENON_ATTRS(quant_min, quant_max, axis)
};

enum Input { kX, kScale, kZeroPoint };

// Constraints.
//   C1  x and scale are floating point and of one dtype.
//   C2  scale is 0-d, or has one element for each index of x along axis.
//   C3  zero_point is an integer tensor of the shape of scale.
//   C4  quant_min < quant_max, and both lie within 24 bits, where float32 is exact.
//   C5  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[kX], &scale = in[kScale];
  require(is_floating(x.dtype) && scale.dtype == x.dtype,
          "C1: x and scale must be floating point and of one dtype, but are {} and {}", x, scale);
  require_scale_shape(scale, x, attrs.axis, "C2");
  if (in.has(kZeroPoint)) {
    const TensorType& zero_point = in[kZeroPoint];
    require(is_integer(zero_point.dtype) && zero_point.shape == scale.shape,
            "C3: zero_point must be an integer of the shape of scale: {}, but is {}", scale,
            zero_point);
  }
  constexpr int64_t kLimit = int64_t{1} << 24;
  require(
      attrs.quant_min < attrs.quant_max && attrs.quant_min >= -kLimit && attrs.quant_max <= kLimit,
      "C4: quant_min must be below quant_max and both within 24 bits, but they are {} and {}",
      attrs.quant_min, attrs.quant_max);
  return {x};  // C5
}

// The quantised integer of x before clipping, and scale and zero point in the compute dtype.
struct Quantized {
  Tensor integer, scale, zero_point;
};

// Quantises x, but does not clip the result to [quant_min, quant_max].
Quantized quantize(const Attrs& attrs, const Tensor& x, const Tensor& scale,
                   const Tensor& zero_point) {
  const DType wide = wide_dtype(x->type.dtype);
  Quantized q;
  q.scale = broadcast_along_axis(to_dtype(scale, wide), x, attrs.axis);
  q.zero_point = zero_point ? cast(broadcast_along_axis(zero_point, x, attrs.axis), wide)
                            : fill(number(0), {}, wide);
  q.integer = round(to_dtype(x, wide) / q.scale) + q.zero_point;
  return q;
}

// Returns quant_min or quant_max as a scalar.
Tensor bound(int64_t value) { return number(static_cast<double>(value)); }

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Quantized q =
      quantize(attrs, in[kX], in[kScale], has(in, kZeroPoint) ? in[kZeroPoint] : Tensor());
  const Tensor kept = clip(q.integer, bound(attrs.quant_min), bound(attrs.quant_max));
  return {to_dtype((kept - q.zero_point) * q.scale, in[kX]->type.dtype)};
}

// Straight-through estimator: differentiates rounding like the identity. Elements outside
// [quant_min, quant_max] get the gradient 0.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Quantized q = quantize(attrs, v.input(kX), v.input(kScale),
                               v.n_inputs() > kZeroPoint ? v.input(kZeroPoint) : Tensor());
  const Tensor inside = logical_and(greater_equal(q.integer, bound(attrs.quant_min)),
                                    less_equal(q.integer, bound(attrs.quant_max)));
  Tensors grads(v.n_inputs(), Tensor());
  grads[kX] = where(inside, v.cotangent(0), number(0));
  return grads;
}

// Finite differences of rounding are 0, so layer_derivatives_test.cc tests the derivative instead.
Cases<Attrs> cases() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const CaseTensor x = f32({-2, -0.3, 0.25, 0.8, 500}), half = f32({}, {0.5});
  return {
      {.name = "example",
       .inputs = {x, half, i32({}, {2})},
       .expect = {f32({-1, -0.5, 0, 1, 126.5})},
       .check_gradient = false},
      {.name = "without_zero_point",
       .inputs = {x, half},
       .expect = {f32({0, 0, 0, 1, 127.5})},
       .check_gradient = false},
      {.name = "quant_min",
       .attrs = {.quant_min = -3},
       .inputs = {x, half},
       .expect = {f32({-1.5, -0.5, 0, 1, 127.5})},
       .check_gradient = false},
      {.name = "quant_max",
       .attrs = {.quant_max = 1},
       .inputs = {x, half},
       .expect = {f32({0, 0, 0, 0.5, 0.5})},
       .check_gradient = false},
      {.name = "axis",
       .attrs = {.quant_min = -128, .quant_max = 127, .axis = 0},
       .inputs = {f32({2, 2}, {1.4, 2.5, -14, 1e4}), f32({1, 10}), i64({0, 100})},
       .expect = {f32({2, 2}, {1, 2, -10, 270})},
       .check_gradient = false},
      {.name = "second_axis_by_default",
       .inputs = {f32({1, 2}, {1.4, 14}), f32({1, 10})},
       .expect = {f32({1, 2}, {1, 10})},
       .check_gradient = false},
      {.name = "infinities_and_nan",
       .inputs = {f32({kInf, -kInf, kNaN}), half},
       .expect = {f32({127.5, 0, kNaN})},
       .check_gradient = false},
      {.name = "no_elements", .inputs = {uniform({0, 3}), half}, .check_gradient = false},
      {.name = "integers", .inputs = {i32({1}), half}, .error = "C1"},
      {.name = "a_scale_too_few", .inputs = {uniform({2, 3}), f32({1, 2})}, .error = "C2"},
      {.name = "zero_point_is_floating", .inputs = {x, half, f32({}, {0})}, .error = "C3"},
      {.name = "zero_points_of_another_shape", .inputs = {x, half, i32({0, 0})}, .error = "C3"},
      {.name = "bounds_are_swapped",
       .attrs = {.quant_min = 5, .quant_max = 4},
       .inputs = {x, half},
       .error = "C4"},
  };
}

}  // namespace

OpDef fake_quantize_def() {
  return define<Attrs>({
      .name = "fake_quantize",
      .summary = "The input quantised to integers and converted back to real numbers.",
      .formula = "y = (clip(round(x / scale) + zero_point, quant_min, quant_max) - zero_point) * "
                 "scale",
      .details = "Ties round to even. NaN propagates. The derivative with respect to x is 1 where "
                 "the integer is in range, bounds included, and 0 elsewhere; scale and zero_point "
                 "receive no gradient. Half types are computed in float32.",
      .inputs = {{"x", "the input, floating point"},
                 {"scale", kScaleDoc},
                 {"zero_point", kZeroPointDoc, InputKind::kOptional}},
      .outputs = {{"y", "the result, of the type of x"}},
      .attrs_doc = {{"quant_min", "The smallest integer."},
                    {"quant_max", "The largest integer."},
                    {"axis", kQuantizationAxisDoc}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kInputs,
      .numeric = Numeric::kComposite,
      .sparse_output = true,
  });
}

}  // namespace tenon::ops
