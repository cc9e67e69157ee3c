// quantize_linear: converts real numbers to small integers by a scale and a zero point.

#include <limits>

#include "core/ops/quantization/quantization.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t axis = 1;                   // The axis along which scale varies, if it is not 0-d.
  DType output_dtype = DType::kNone;  // kNone: the dtype of zero_point, or kU8 if there is none.
  TENON_ATTRS(axis, output_dtype)
};

enum Input { kX, kScale, kZeroPoint };

// Constraints.
//   C1  x and scale are floating point and of one dtype.
//   C2  scale is 0-d, or has one element for each index of x along axis.
//   C3  The result's dtype is an integer of at most 16 bits or a floating-point storage dtype with
//       zero; if both zero_point and output_dtype specify it, they agree.
//   C4  zero_point has the shape of scale.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[kX], &scale = in[kScale];
  require(is_floating(x.dtype) && scale.dtype == x.dtype,
          "C1: x and scale must be floating point and of one dtype, but are {} and {}", x, scale);
  require_scale_shape(scale, x, attrs.axis, "C2");
  DType dtype = attrs.output_dtype;
  if (in.has(kZeroPoint)) {
    const TensorType& zero_point = in[kZeroPoint];
    require(dtype == DType::kNone || dtype == zero_point.dtype,
            "C3: output_dtype {} is not the dtype of zero_point: {}", dtype, zero_point);
    dtype = zero_point.dtype;
    require(zero_point.shape == scale.shape,
            "C4: zero_point must have the shape of scale: {}, but is {}", scale, zero_point);
  }
  if (dtype == DType::kNone) dtype = DType::kU8;
  require(is_quantized(dtype),
          "C3: the result must be an integer of at most 16 bits, or a float of at most 8 bits with "
          "zero, but is {}",
          dtype);
  return {TensorType(dtype, x.shape)};
}

// Computes in float32 or wider, where sums of small integers are exact. cast() saturates
// out-of-range values.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const DType wide = wide_dtype(in[kX]->type.dtype);
  const Tensor x = to_dtype(in[kX], wide), scale = to_dtype(in[kScale], wide);
  DType dtype = attrs.output_dtype == DType::kNone ? DType::kU8 : attrs.output_dtype;
  if (has(in, kZeroPoint)) dtype = in[kZeroPoint]->type.dtype;
  Tensor q = x / broadcast_along_axis(scale, x, attrs.axis);
  if (!is_storage_float(dtype)) q = round(q);
  if (has(in, kZeroPoint)) {
    q = q + cast(broadcast_along_axis(in[kZeroPoint], x, attrs.axis), wide);
  }
  return {cast(q, dtype)};
}

Cases<Attrs> cases() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const CaseTensor x = f32({2, 3}, {-2, 0, 3, 1000, 254, 255.5}), two = f32({}, {2});
  return {
      {.name = "example",
       .inputs = {x, two, u8({}, {128})},
       .expect = {u8({2, 3}, {127, 128, 130, 255, 255, 255})}},
      {.name = "without_zero_point",
       .inputs = {x, two},
       .expect = {u8({2, 3}, {0, 0, 2, 255, 127, 128})}},
      {.name = "ties_go_to_even",
       .inputs = {f32({-3, -1, 1, 3, 5}), two, i8({}, {0})},
       .expect = {i8({-2, 0, 0, 2, 2})}},
      {.name = "rounded_before_the_zero_point_is_added",
       .inputs = {f32({1, 3}), two, u8({}, {1})},
       .expect = {u8({1, 3})}},
      {.name = "axis",
       .attrs = {.axis = 0},
       .inputs = {f32({2, 2}, {1, 2, 30, 40}), f32({1, 10}), i8({0, -5})},
       .expect = {i8({2, 2}, {1, 2, -2, -1})}},
      {.name = "second_axis_by_default",
       .inputs = {f32({1, 2, 2}, {1, 2, 30, 40}), f32({1, 10})},
       .expect = {u8({1, 2, 2}, {1, 2, 3, 4})}},
      {.name = "output_dtype",
       .attrs = {.output_dtype = DType::kI8},
       .inputs = {x, two},
       .expect = {i8({2, 3}, {-1, 0, 2, 127, 127, 127})}},
      {.name = "sixteen_bits",
       .inputs = {f32({-1e6, 65534, 1e6}), f32({}, {1}), u16({}, {1})},
       .expect = {u16({0, 65535, 65535})}},
      {.name = "signed_sixteen_bits",
       .inputs = {f32({-1e6, -32768, 1e6}), f32({}, {1}), i16({}, {-1})},
       .expect = {i16({-32768, -32768, 32767})}},
      {.name = "infinities_and_nan",
       .inputs = {f32({kInf, -kInf, kNaN}), two, i8({}, {3})},
       .expect = {i8({127, -128, 0})}},
      {.name = "scale_is_a_scalar",
       .inputs = {f32({1, -4}), scalar(0.5), i8({}, {0})},
       .expect = {i8({2, -8})}},
      {.name = "halves_are_divided_in_float32",
       .inputs = {f16({1910}), f16({}, {19}), u8({}, {0})},
       .expect = {u8({101})}},
      {.name = "no_elements", .inputs = {uniform({0, 3}), two}, .expect = {u8({0, 3}, {})}},
      {.name = "integers", .inputs = {i32({1}), f32({}, {1})}, .error = "C1"},
      {.name = "scale_of_another_dtype", .inputs = {f32({1}), f64({}, {1})}, .error = "C1"},
      {.name = "a_scale_too_few", .inputs = {x, f32({1, 2})}, .error = "C2"},
      {.name = "axis_out_of_range",
       .attrs = {.axis = 2},
       .inputs = {x, f32({1, 2, 3})},
       .error = "C2"},
      {.name = "wide_zero_point", .inputs = {x, two, i32({}, {0})}, .error = "C3"},
      {.name = "dtypes_disagree",
       .attrs = {.output_dtype = DType::kI8},
       .inputs = {x, two, u8({}, {0})},
       .error = "C3"},
      {.name = "zero_points_of_another_shape", .inputs = {x, two, u8({0, 0, 0})}, .error = "C4"},
  };
}

}  // namespace

OpDef quantize_linear_def() {
  return define<Attrs>({
      .name = "quantize_linear",
      .summary =
          "Quantises floating-point numbers to integers or floats of few bits by a scale and a "
          "zero point.",
      .formula = "y = saturate(round(x / scale) + zero_point)",
      .details =
          "Ties round to even. For floating-point results, the quotient is rounded to a value "
          "of the dtype instead of an integer. Values outside the range of the dtype saturate; an "
          "integer result is 0 for NaN. "
          "Half types are computed in float32.",
      .inputs = {{"x", "any floating tensor"},
                 {"scale", kScaleDoc},
                 {"zero_point", kZeroPointDoc, InputKind::kOptional}},
      .outputs = {{"y", "the quantised elements, in the shape of x"}},
      .attrs_doc =
          {{"axis", kQuantizationAxisDoc},
           {"output_dtype",
            "The dtype of the result; none uses that of zero_point, or u8 without a zero_point."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .storage = StorageUse::kConverts,
      .no_gradient = "its result is an integer",
      .onnx = "QuantizeLinear",
  });
}

}  // namespace tenon::ops
