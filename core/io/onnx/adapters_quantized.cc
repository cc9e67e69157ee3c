// Quantised numbers: the small integer q represents (q - zero_point) * scale.

#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {
namespace {

// Broadcasts per-axis scales and zero points along that axis.
Tensor along(const Tensor& parameter, int64_t axis, size_t rank) {
  if (parameter->rank() != 1 || count(parameter->shape()) == 1) return parameter;
  Dims shape;
  for (size_t i = 0; i < rank; ++i) shape.push_back(1);
  shape[static_cast<size_t>(require_axis(axis, rank, "axis"))] = parameter->shape()[0];
  return reshape(parameter, shape);
}

// Rounds to integers, ties to even, adds the zero point, and saturates to the dtype.
Tensor rounded(const Tensor& x, const Tensor& zero_point, DType dtype) {
  const Tensor y = round(x);
  return cast(zero_point ? y + cast(zero_point, x->type.dtype) : y, dtype);
}

// Subtracts the zero point, if there is one.
Tensor centred(const Tensor& q, const Tensor& zero_point) {
  const Tensor wide = cast(q, DType::kI32);
  return zero_point ? sub(wide, cast(zero_point, DType::kI32)) : wide;
}

// Zero points for each filter of a convolution.
Tensor of_filters(const Tensor& parameter, const Tensor& w) {
  return parameter ? along(parameter, 0, w->rank()) : parameter;
}

// An integer convolution, computed in a floating-point type that holds each sum exactly.
Tensor integer_conv(const NodeCall& n, const Tensor& x, const Tensor& w) {
  const int64_t terms = w->shape()[0] ? count(w->shape()) / w->shape()[0] : Size(0);
  constexpr int64_t kMaxProduct = 256 * 256;
  const DType dtype = terms <= (1 << 24) / kMaxProduct ? DType::kF32 : DType::kF64;
  return cast(convolved(n, cast(x, dtype), cast(w, dtype), Tensor()), DType::kI32);
}

// Rescales integer sums of products to the scale of the result.
Tensor requantized(const Tensor& sums, const Tensor& scales, const Tensor& y_scale,
                   const Tensor& y_zero_point) {
  const Tensor x = cast(sums, DType::kF32) * (scales / y_scale);
  return rounded(x, y_zero_point, y_zero_point->type.dtype);
}

void require_whole_axes(const NodeCall& n) { n.require_attr("block_size", 0); }

}  // namespace

Tensors quantize_linear(const NodeCall& n) {
  require_whole_axes(n);
  n.require_attr("saturate", 1);
  std::vector<NamedAttr> attrs = {{"axis", n.attr("axis", 1)}};
  if (n.has_attr("output_dtype")) attrs.push_back({"output_dtype", n.attr("output_dtype", 0)});
  const Tensor x = is_floating(n.in(0)->type.dtype) ? n.in(0) : cast(n.in(0), n.in(1)->type.dtype);
  const Tensor inputs[] = {x, n.in(1), n.optional(2)};
  return call_named("quantize_linear", attrs, inputs);
}

Tensors dequantize_linear(const NodeCall& n) {
  require_whole_axes(n);
  return call_named("dequantize_linear", {{"axis", n.attr("axis", 1)}},
                    {n.in(0), n.in(1), n.optional(2)});
}

// Computes the scale that maps the range of x, including zero, to uint8.
Tensors dynamic_quantize_linear(const NodeCall& n) {
  const Tensor& x = n.in(0);
  const Tensor least = minimum(min(x), number(0)), greatest = maximum(max(x), number(0));
  const Tensor scale = (greatest - least) / 255;
  const Tensor zero_point = cast(round(neg(least) / scale), DType::kU8);
  return {rounded(x / scale, zero_point, DType::kU8), scale, zero_point};
}

Tensors q_linear_mat_mul(const NodeCall& n) {
  const Tensor sums = call_named1("int8_matmul", {}, {n.in(0), n.in(3), n.in(2), n.in(5)});
  const Tensor& a_scale = n.in(1);
  const Tensor rows = a_scale->rank() == 1 ? expand_dims(a_scale, {1}) : a_scale;
  return {requantized(sums, rows * n.in(4), n.in(6), n.in(7))};
}

Tensors conv_integer(const NodeCall& n) {
  const Tensor& w = n.in(1);
  return {
      integer_conv(n, centred(n.in(0), n.optional(2)), centred(w, of_filters(n.optional(3), w)))};
}

Tensors q_linear_conv(const NodeCall& n) {
  const Tensor& w = n.in(3);
  Tensor sums = integer_conv(n, centred(n.in(0), n.in(2)), centred(w, of_filters(n.in(5), w)));
  const size_t rank = sums->rank();
  if (n.has(8)) sums = add(sums, along(n.in(8), 1, rank));
  return {requantized(sums, n.in(1) * along(n.in(4), 1, rank), n.in(6), n.in(7))};
}

}  // namespace tenon::onnx::adapters
