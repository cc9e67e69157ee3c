// Quantised numbers: the integer q represents the real number (q - zero_point) * scale.

#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {
namespace {

// Reshapes a vector of per-axis parameters so that it broadcasts along `axis` of a tensor.
Tensor reshape_along_axis(const Tensor& parameter, int64_t axis, size_t rank) {
  if (parameter->rank() != 1 || count(parameter->shape()) == 1) return parameter;
  Dims shape;
  for (size_t i = 0; i < rank; ++i) shape.push_back(1);
  shape[static_cast<size_t>(require_axis(axis, rank, "axis"))] = parameter->shape()[0];
  return reshape(parameter, shape);
}

// Rounds to integers (ties to even), adds the zero point, and saturates to `dtype`. A dtype with
// floats rounds to its own values instead, and saturates only if `saturate` is true.
Tensor round_and_saturate(const Tensor& x, const Tensor& zero_point, DType dtype,
                          bool saturate = true) {
  Tensor y = is_storage_float(dtype) ? x : round(x);
  if (zero_point) y = y + cast(zero_point, x->type.dtype);
  return cast(y, dtype, saturate);
}

// Casts to `wide` and subtracts the zero point, if there is one.
Tensor subtract(const Tensor& q, const Tensor& zero_point, DType wide) {
  return zero_point ? sub(cast(q, wide), cast(zero_point, wide)) : cast(q, wide);
}

Tensor subtract_zero_point(const Tensor& q, const Tensor& zero_point) {
  return subtract(q, zero_point, DType::kI32);
}

// Reshapes per-filter zero points so that they broadcast over the filters of a convolution.
Tensor reshape_filter_parameter(const Tensor& parameter, const Tensor& w) {
  return parameter ? reshape_along_axis(parameter, 0, w->rank()) : parameter;
}

// Computes an integer convolution exactly, for |x| and |w| up to 256. Splits x into digits such
// that float32 represents each sum of products of a digit. Convolutions with too many terms for
// four digits are computed in float64, which onnxruntime lacks.
Tensor integer_conv(const NodeCall& n, const Tensor& x, const Tensor& w) {
  const int64_t terms = w->shape()[0] ? count(w->shape()) / w->shape()[0] : Size(0);
  struct Digits {
    int64_t count, base, largest;  // The largest magnitude of a digit.
  };
  constexpr Digits kDigits[] = {{1, 256, 256}, {2, 16, 16}, {3, 8, 7}, {4, 4, 4}};
  for (const Digits& digits : kDigits) {
    if (terms * digits.largest * 256 > int64_t{1} << 24) continue;
    const Tensor filter = cast(w, DType::kF32);
    const auto base = static_cast<double>(digits.base);
    Tensor rest = cast(x, DType::kF32), total;
    int64_t scale = 1;
    for (int64_t i = 0; i < digits.count; ++i) {
      const bool is_last = i + 1 == digits.count;
      const Tensor next = is_last ? Tensor() : floor(rest / base);
      const Tensor digit = is_last ? rest : rest - next * base;
      const Tensor sums = cast(convolve(n, digit, filter, Tensor()), DType::kI32);
      total = total ? total + sums * integer(scale) : sums;
      rest = next;
      scale *= digits.base;
    }
    return total;
  }
  return cast(convolve(n, cast(x, DType::kF64), cast(w, DType::kF64), Tensor()), DType::kI32);
}

// Scales int32 sums of products by scales / y_scale, and quantises the result with the zero point
// of the output.
Tensor requantize(const Tensor& sums, const Tensor& scales, const Tensor& y_scale,
                  const Tensor& y_zero_point) {
  const Tensor x = cast(sums, DType::kF32) * (scales / y_scale);
  return round_and_saturate(x, y_zero_point, y_zero_point->type.dtype);
}

// Reshapes a scale or zero point with a single element to rank 0, which applies to the whole
// tensor.
Tensor scalar_if_single(const Tensor& parameter) {
  const bool is_list = parameter && parameter->rank() > 0;
  return is_list && count(parameter->shape()) == 1 ? reshape(parameter, {}) : parameter;
}

// Repeats each element of a block-wise parameter `block` times along an axis.
Tensor repeat_block_parameter(const Tensor& parameter, const Tensor& x, int64_t axis,
                              int64_t block) {
  if (!parameter) return parameter;
  require(block > 0 && block < (int64_t{1} << 30),
          "attribute block_size must be in (0, 2^30), but is {}", block);
  require(parameter->rank() == x->rank(),
          "a block-wise parameter must have the rank of x, but they are {} and {}", parameter->type,
          x->type);
  const auto at = static_cast<size_t>(require_axis(axis, x->rank(), "axis"));
  Dims repeated, joined;
  for (size_t i = 0; i < x->rank(); ++i) {
    const Size size = x->shape()[i], n_blocks = (size + block - 1) / block;
    require(parameter->shape()[i] == (i == at ? n_blocks : size),
            "{} must have one element for each block of {} elements of {} along axis {}",
            parameter->type, block, x->type, at);
    repeated.push_back(parameter->shape()[i]);
    if (i == at) repeated.push_back(block);
    joined.push_back(i == at ? n_blocks * block : size);
  }
  const Tensor column = expand_dims(parameter, {static_cast<int64_t>(at) + 1});
  return slice(reshape(broadcast_to(column, repeated), joined),
               {.starts = {0}, .ends = {x->shape()[at]}, .axes = {static_cast<int64_t>(at)}});
}

// Returns the dtype that an attribute specifies; kNone if the attribute is missing or 0.
DType optional_dtype(const NodeCall& n, std::string_view name) {
  return n.attr(name, 0) == 0 ? DType::kNone : n.attr_dtype(name, DType::kNone);
}

}  // namespace

// Divides in the dtype of the attribute precision or, by default, of the scale.
Tensors quantize_linear(const NodeCall& n) {
  const bool saturate = n.attr("saturate", 1) != 0;
  const int64_t axis = n.attr("axis", 1), block = n.attr("block_size", 0);
  const DType given = optional_dtype(n, "precision"), to = optional_dtype(n, "output_dtype");
  const DType precision = given == DType::kNone ? n.in(1)->type.dtype : given;
  const Tensor x = to_dtype(n.in(0), precision), scale = to_dtype(n.in(1), precision);
  if (block != 0 || !saturate) {
    const auto parameter = [&](const Tensor& given) {
      if (block != 0) return repeat_block_parameter(given, x, axis, block);
      return given ? reshape_along_axis(scalar_if_single(given), axis, x->rank()) : given;
    };
    const Tensor zero_point = parameter(n.optional(2));
    const DType of_zero = zero_point ? zero_point->type.dtype : DType::kNone;
    const DType dtype = to != DType::kNone ? to : zero_point ? of_zero : DType::kU8;
    require(!zero_point || of_zero == dtype,
            "attribute output_dtype, {}, must equal the dtype of the zero point, {}", dtype,
            of_zero);
    const DType wide = wide_dtype(precision);
    const Tensor scales = parameter(to_dtype(scale, wide));
    return {round_and_saturate(to_dtype(x, wide) / scales, zero_point, dtype, saturate)};
  }
  std::vector<NamedAttr> attrs = {{"axis", axis}};
  if (to != DType::kNone) attrs.push_back({"output_dtype", to});
  const Tensor inputs[] = {x, scalar_if_single(scale), scalar_if_single(n.optional(2))};
  return call_named("quantize_linear", attrs, inputs);
}

Tensors dequantize_linear(const NodeCall& n) {
  const int64_t axis = n.attr("axis", 1), block = n.attr("block_size", 0);
  const DType given = optional_dtype(n, "output_dtype"), of_scale = n.in(1)->type.dtype;
  const DType scale_dtype = is_storage(of_scale) ? DType::kF32 : of_scale;
  // Computes in the wider of the two dtypes, so that only one rounding occurs.
  const DType dtype = given == DType::kNone ? scale_dtype : given,
              common = promote(dtype, scale_dtype);
  const Tensor &x = n.in(0), scale = to_dtype(n.in(1), common);
  if (block != 0) {
    const DType wide = wide_dtype(common);
    const Tensor zero_point = repeat_block_parameter(n.optional(2), x, axis, block);
    const Tensor centre = is_storage_float(x->type.dtype) ? subtract(x, zero_point, wide)
                                                          : subtract_zero_point(x, zero_point);
    const Tensor scales = repeat_block_parameter(to_dtype(scale, wide), x, axis, block);
    return {to_dtype(cast(centre, wide) * scales, dtype)};
  }
  const Tensor y = call_named1("dequantize_linear", {{"axis", axis}},
                               {x, scalar_if_single(scale), scalar_if_single(n.optional(2))});
  return {to_dtype(y, dtype)};
}

// Computes a uint8 scale and zero point from the range of x, extended to include zero. Quantises x
// with them. If all elements are 0, the scale is 1.
Tensors quantize_dynamically(const Tensor& x) {
  const Tensor least = minimum(min(x), number(0)), greatest = maximum(max(x), number(0));
  const Tensor range = greatest - least;
  const Tensor scale = where(equal(range, number(0)), number(1), range / 255);
  const Tensor zero_point = cast(round(neg(least) / scale), DType::kU8);
  return {round_and_saturate(x / scale, zero_point, DType::kU8), scale, zero_point};
}

Tensors dynamic_quantize_linear(const NodeCall& n) { return quantize_dynamically(n.in(0)); }

Tensors q_linear_mat_mul(const NodeCall& n) {
  const Tensor sums = call_named1(
      "int8_matmul", {}, {n.in(0), n.in(3), scalar_if_single(n.in(2)), scalar_if_single(n.in(5))});
  const Tensor a_scale = scalar_if_single(n.in(1));
  const Tensor rows = a_scale->rank() == 1 ? expand_dims(a_scale, {1}) : a_scale;
  return {requantize(sums, rows * scalar_if_single(n.in(4)), scalar_if_single(n.in(6)),
                     scalar_if_single(n.in(7)))};
}

Tensors conv_integer(const NodeCall& n) {
  const Tensor& w = n.in(1);
  return {integer_conv(n, subtract_zero_point(n.in(0), n.optional(2)),
                       subtract_zero_point(w, reshape_filter_parameter(n.optional(3), w)))};
}

Tensors q_linear_conv(const NodeCall& n) {
  const Tensor& w = n.in(3);
  Tensor sums = integer_conv(n, subtract_zero_point(n.in(0), n.in(2)),
                             subtract_zero_point(w, reshape_filter_parameter(n.in(5), w)));
  const size_t rank = sums->rank();
  if (n.has(8)) sums = add(sums, reshape_along_axis(n.in(8), 1, rank));
  return {requantize(sums, n.in(1) * reshape_along_axis(n.in(4), 1, rank), n.in(6), n.in(7))};
}

}  // namespace tenon::onnx::adapters
