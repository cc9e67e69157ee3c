// Ops that onnxruntime's quantiser writes. Most adapters dequantise the inputs, compute in float32,
// and quantise the result. Matrix products are computed exactly in integers.

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/foreign/foreign.h"

namespace tenon::onnx::adapters {
namespace {

// Dequantises input i with the scale and zero point at inputs i + 1 and i + 2.
Tensor dequantize_input(const NodeCall& n, size_t i) {
  const auto whole = [](const Tensor& x) { return x && x->rank() > 0 ? reshape(x, {}) : x; };
  return call_named1("dequantize_linear", {},
                     {n.in(i), whole(n.in(i + 1)), whole(n.optional(i + 2))});
}

// Quantises y with the scale and zero point at inputs i and i + 1.
Tensor quantize_output(const NodeCall& n, const Tensor& y, size_t i) {
  const auto whole = [](const Tensor& x) { return x && x->rank() > 0 ? reshape(x, {}) : x; };
  const Tensor zero_point = n.optional(i + 1);
  const DType dtype = zero_point ? zero_point->type.dtype : n.in(0)->type.dtype;
  return call_named1("quantize_linear", {{"output_dtype", dtype}},
                     {y, whole(n.in(i)), whole(zero_point)});
}

// Returns a scale or zero point in a shape that broadcasts over the rows of a matrix: a vector with
// one element per column is unchanged, and a single element is reshaped to rank 0.
Tensor column_parameter(const Tensor& parameter) {
  return parameter && parameter->rank() == 1 && !(count(parameter->shape()) == 1)
             ? parameter
             : reshape(parameter, {});
}

// Reshapes a parameter with a single element to rank 0; x may be absent.
Tensor scalar_if_single(const Tensor& x) {
  return x && count(x->shape()) == 1 ? reshape(x, {}) : x;
}

}  // namespace

Tensors q_linear_add(const NodeCall& n) {
  return {quantize_output(n, dequantize_input(n, 0) + dequantize_input(n, 3), 6)};
}

Tensors q_linear_mul(const NodeCall& n) {
  return {quantize_output(n, dequantize_input(n, 0) * dequantize_input(n, 3), 6)};
}

Tensors q_linear_sigmoid(const NodeCall& n) {
  return {quantize_output(n, sigmoid(dequantize_input(n, 0)), 3)};
}

Tensors q_linear_leaky_relu(const NodeCall& n) {
  const double alpha = n.attr_float("alpha", 0.01);
  return {quantize_output(
      n, call_named1("leaky_relu", {{"alpha", alpha}}, {dequantize_input(n, 0)}), 3)};
}

Tensors q_linear_softmax(const NodeCall& n) {
  const Tensor x = dequantize_input(n, 0);
  const int64_t axis = n.attr("axis", -1);
  require_code(n.attr("opset", 13) >= 13 ||
                   require_axis(axis, x->rank(), "axis") + 1 == static_cast<int64_t>(x->rank()),
               Code::kUnimplemented, "axis {} is supported only from operator set 13 on", axis);
  return {quantize_output(n, softmax(x, axis), 3)};
}

// Inputs 0 and 1 are the scale and zero point of the output. Three inputs follow for each tensor:
// its elements, scale and zero point.
Tensors q_linear_concat(const NodeCall& n) {
  require(n.n_inputs() >= 5 && (n.n_inputs() - 2) % 3 == 0,
          "the number of inputs must be 2 plus a multiple of 3, at least 5, but is {}",
          n.n_inputs());
  Tensors parts;
  for (size_t i = 2; i < n.n_inputs(); i += 3) parts.push_back(dequantize_input(n, i));
  return {quantize_output(n, concat(parts, n.attr("axis", 0)), 0)};
}

Tensors q_linear_global_average_pool(const NodeCall& n) {
  n.require_attr("channels_last", 0);
  return {quantize_output(n, call_named1("global_avg_pool", {}, {dequantize_input(n, 0)}), 3)};
}

Tensors q_linear_average_pool(const NodeCall& n) {
  n.require_attr("channels_last", 0);
  return {quantize_output(n, call_avg_pool(n, dequantize_input(n, 0)), 3)};
}

namespace {

// Multiplies two quantised matrices exactly, with int32 results. The zero points are optional.
Tensor multiply_quantized(const Tensor& a, const Tensor& b, const Tensor& a_zero,
                          const Tensor& b_zero) {
  return call_named1("int8_matmul", {}, {a, b, scalar_if_single(a_zero), scalar_if_single(b_zero)});
}

}  // namespace

// Quantised Gemm. Returns float32 if there is no scale for the output, input 7.
Tensors q_gemm(const NodeCall& n) {
  const bool trans_a = n.flag("transA", false), trans_b = n.flag("transB", false);
  const double alpha = n.attr_float("alpha", 1);
  const Tensor a = trans_a ? transpose(n.in(0), {1, 0}) : n.in(0);
  const Tensor b = trans_b ? transpose(n.in(3), {1, 0}) : n.in(3);
  Tensor sums = multiply_quantized(a, b, n.in(2), n.in(5));
  if (n.has(6)) sums = add(sums, n.in(6));
  Tensor y = cast(sums, DType::kF32) * (column_parameter(n.in(1)) * column_parameter(n.in(4)));
  if (alpha != 1) y = y * alpha;
  return {n.has(7) ? quantize_output(n, y, 7) : y};
}

Tensors mat_mul_integer_to_float(const NodeCall& n) {
  const Tensor sums = multiply_quantized(n.in(0), n.in(1), n.optional(4), n.optional(5));
  const Tensor scale = column_parameter(n.in(2)) * column_parameter(n.in(3));
  const Tensor y = cast(sums, scale->type.dtype) * scale;
  return {n.has(6) ? y + n.in(6) : y};
}

Tensors dynamic_quantize_mat_mul(const NodeCall& n) {
  const Tensors a = dynamic_quantize_linear(n);  // Quantises input 0.
  const Tensor sums = multiply_quantized(a[0], n.in(1), a[2], n.optional(3));
  const Tensor y = cast(sums, DType::kF32) * (a[1] * column_parameter(n.in(2)));
  return {n.has(4) ? y + n.in(4) : y};
}

namespace {

// Unpacks two 4-bit elements from each byte, low bits first. The last axis becomes twice as long.
Tensor unpack_4_bit_elements(const Tensor& packed) {
  Dims shape = packed->shape();
  shape[shape.rank() - 1] *= 2;
  const Tensor wide = cast(packed, DType::kI32);
  const Tensor parts[] = {expand_dims(mod(wide, integer(16)), {-1}),
                          expand_dims(floor_div(wide, integer(16)), {-1})};
  return reshape(concat(parts, -1), shape);
}

}  // namespace

// Multiplies by the transpose of a matrix [N, K] with 4-bit or 8-bit elements, quantised in blocks
// along K.
Tensors mat_mul_n_bits(const NodeCall& n) {
  n.ignore("accuracy_level");  // Affects speed only.
  const int64_t bits = n.attr("bits", 4), block = n.attr("block_size", 0);
  const int64_t columns = n.attr("N", 0), rows = n.attr("K", 0);
  require_code(bits == 4 || bits == 8, Code::kUnimplemented,
               "attribute bits must be 4 or 8, but is {}", bits);
  require_code(!n.has(4), Code::kUnimplemented, "the input g_idx is not supported");
  constexpr int64_t kMax = int64_t{1} << 31;
  require(columns > 0 && columns < kMax && rows > 0 && rows < kMax && block > 0 && block < kMax,
          "attributes N {}, K {} and block_size {} must be in [1, 2^31)", columns, rows, block);
  const Tensor &a = n.in(0), &packed = n.in(1), &scales = n.in(2);
  const int64_t blocks = (rows + block - 1) / block;
  require(packed->type.dtype == DType::kU8 &&
              packed->shape() == Dims{columns, blocks, block * bits / 8},
          "B must be u8[{},{},{}], but is {}", columns, blocks, block * bits / 8, packed->type);
  const DType dtype = a->type.dtype, wide = wide_dtype(dtype);
  const Tensor q = bits == 4 ? unpack_4_bit_elements(packed) : cast(packed, DType::kI32);
  Tensor centre = sub(q, integer(int64_t{1} << (bits - 1)));
  if (n.has(3)) {
    const Tensor& given = n.in(3);
    if (is_floating(given->type.dtype)) {
      centre = to_dtype(cast(q, wide), wide) - to_dtype(reshape(given, {columns, blocks, 1}), wide);
    } else {
      Tensor zero_points = bits == 4 ? unpack_4_bit_elements(reshape(given, {columns, -1}))
                                     : cast(reshape(given, {columns, -1}), DType::kI32);
      zero_points = slice(zero_points, {.starts = {0}, .ends = {blocks}, .axes = {1}});
      centre = sub(q, expand_dims(zero_points, {2}));
    }
  }
  const Tensor values = cast(centre, wide) * to_dtype(reshape(scales, {columns, blocks, 1}), wide);
  const Tensor w = slice(reshape(values, {columns, blocks * block}),
                         {.starts = {0}, .ends = {rows}, .axes = {1}});
  Tensor y = matmul(to_dtype(a, wide), w, {.transpose_b = true});
  if (n.has(5)) y = y + to_dtype(n.in(5), wide);
  return {to_dtype(y, dtype)};
}

}  // namespace tenon::onnx::adapters
