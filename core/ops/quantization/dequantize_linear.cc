// dequantize_linear: converts quantised integers to real numbers with a scale and a zero point.

#include "core/ops/quantization/quantization.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t axis = 1;  // The axis along which scale varies, if it is not 0-d.
  TENON_ATTRS(axis)
};

enum Input { kX, kScale, kZeroPoint };

// Constraints.
//   C1  x is an integer of at most 16 bits, i32, or a floating-point storage dtype with zero.
//   C2  scale is 0-d, or has one element for each index of x along axis.
//   C3  scale is floating point, and the result has its dtype.
//   C4  zero_point has the dtype of x and the shape of scale.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[kX], &scale = in[kScale];
  require(
      is_quantized(x.dtype) || x.dtype == DType::kI32,
      "C1: x must be an integer of at most 16 bits, i32, or a float of at most 8 bits with zero, "
      "but is {}",
      x.dtype);
  require_scale_shape(scale, x, attrs.axis, "C2");
  require(is_floating(scale.dtype), "C3: scale must be floating point, but is {}", scale.dtype);
  if (in.has(kZeroPoint)) {
    const TensorType& zero_point = in[kZeroPoint];
    require(zero_point.dtype == x.dtype && zero_point.shape == scale.shape,
            "C4: zero_point must have the dtype of x: {} and the shape of scale: {}, but is {}", x,
            scale, zero_point);
  }
  return {TensorType(scale.dtype, x.shape)};
}

// Returns x - zero_point, computed exactly: in `wide` for integers of up to 16 bits, in int64 for
// int32.
Tensor centered(const Tensor& x, const Tensor& zero_point, DType wide) {
  if (!zero_point) return cast(x, wide);
  if (size_of(x->type.dtype) <= 2) return cast(x, wide) - cast(zero_point, wide);
  return cast(cast(x, DType::kI64) - cast(zero_point, DType::kI64), wide);
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor& x = in[kX];
  const DType dtype = in[kScale]->type.dtype, wide = wide_dtype(dtype);
  Tensor zero_point;
  if (has(in, kZeroPoint)) zero_point = broadcast_along_axis(in[kZeroPoint], x, attrs.axis);
  const Tensor scale = broadcast_along_axis(to_dtype(in[kScale], wide), x, attrs.axis);
  return {to_dtype(centered(x, zero_point, wide) * scale, dtype)};
}

Cases<Attrs> cases() {
  const CaseTensor x = u8({2, 2}, {0, 128, 130, 255}), half = f32({}, {0.5});
  return {
      {.name = "example",
       .inputs = {x, half, u8({}, {128})},
       .expect = {f32({2, 2}, {-64, 0, 1, 63.5})}},
      {.name = "without_zero_point",
       .inputs = {x, half},
       .expect = {f32({2, 2}, {0, 64, 65, 127.5})}},
      {.name = "axis",
       .attrs = {.axis = 0},
       .inputs = {i8({2, 2}, {1, 2, -128, 127}), f32({1, 10}), i8({0, 127})},
       .expect = {f32({2, 2}, {1, 2, -2550, 0})}},
      {.name = "second_axis_by_default",
       .inputs = {i8({1, 2, 2}, {1, 2, 3, 4}), f32({1, 10})},
       .expect = {f32({1, 2, 2}, {1, 2, 30, 40})}},
      {.name = "sixteen_bits",
       .inputs = {u16({0, 65535}), f32({}, {2}), u16({}, {32768})},
       .expect = {f32({-65536, 65534})}},
      {.name = "difference_of_wide_integers_is_exact",
       .inputs = {i32({2147483647, -2147483647}), f32({}, {1}), i32({}, {2147483646})},
       .expect = {f32({1, -4294967296})}},
      {.name = "half", .inputs = {i8({-2, 100}), f16({}, {0.5})}, .expect = {f16({-1, 50})}},
      {.name = "double", .inputs = {i8({1}), f64({}, {0.1})}, .expect = {f64({0.1})}},
      {.name = "scale_is_a_scalar", .inputs = {i8({3}), scalar(0.5)}, .expect = {f32({1.5})}},
      {.name = "no_elements", .inputs = {i8({0, 3}, {}), half}, .expect = {f32({0, 3}, {})}},
      {.name = "floats", .inputs = {f32({1}), half}, .error = "C1"},
      {.name = "sixty_four_bits", .inputs = {i64({1}), half}, .error = "C1"},
      {.name = "a_scale_too_many", .inputs = {x, f32({1, 2, 3})}, .error = "C2"},
      {.name = "axis_out_of_range",
       .attrs = {.axis = -3},
       .inputs = {x, f32({1, 2})},
       .error = "C2"},
      {.name = "scale_is_an_integer", .inputs = {x, i32({}, {1})}, .error = "C3"},
      {.name = "zero_point_of_another_dtype", .inputs = {x, half, i8({}, {0})}, .error = "C4"},
      {.name = "zero_points_of_another_shape", .inputs = {x, half, u8({0, 0})}, .error = "C4"},
  };
}

}  // namespace

OpDef dequantize_linear_def() {
  return define<Attrs>({
      .name = "dequantize_linear",
      .summary = "Quantised integers converted to real numbers with a scale and a zero point.",
      .formula = "y = (x - zero_point) * scale",
      .details = "The difference is exact. Half types are computed in float32.",
      .inputs = {{"x", "the quantised elements"},
                 {"scale", kScaleDoc},
                 {"zero_point", kZeroPointDoc, InputKind::kOptional}},
      .outputs = {{"y", "the real numbers, in the dtype of scale"}},
      .attrs_doc = {{"axis", kQuantizationAxisDoc}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .storage = StorageUse::kConverts,
      .numeric = Numeric::kRounded,
      .onnx = "DequantizeLinear",
  });
}

}  // namespace tenon::ops
