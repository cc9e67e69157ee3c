#include "core/dispatch/storage_ops.h"

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/base/storage_dtype.h"
#include "core/dispatch/composites.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/ops/definition/op_ids.h"

namespace tenon {
namespace {

// A binary floating-point dtype, and the integer dtype of its size.
struct Binary {
  DType value, bits;
  int mantissa_bits, bias;
  int64_t all_but_sign;  // A mask.
};
constexpr Binary kBinary32 = {DType::kF32, DType::kI32, 23, 127, INT32_MAX};
constexpr Binary kBinary64 = {DType::kF64, DType::kI64, 52, 1023, INT64_MAX};
constexpr int64_t kInfinity32 = 0x7f800000, kNaN32 = 0x7fc00000;

Tensor shifted_left(const Tensor& x, int64_t n) { return shift_left(x, integer(n)); }
Tensor shifted_right(const Tensor& x, int64_t n) { return shift_right(x, integer(n)); }
Tensor masked(const Tensor& x, int64_t mask) { return bitwise_and(x, integer(mask)); }

// Returns the elements of a storage dtype with integers, as int8 or uint8.
Tensor decode_integers(const Tensor& x) {
  const auto [least, greatest] = storage_range(x->type.dtype);
  if (least == 0) return masked(bitcast(x, DType::kU8), greatest);
  // Extends the sign: flips the sign bit, then subtracts its value.
  const Tensor low = masked(bitcast(x, DType::kI8), greatest - least);
  return sub(bitwise_xor(low, integer(-least)), integer(-least));
}

Tensor encode_integers(const Tensor& x, DType to) {
  const auto [least, greatest] = storage_range(to);
  Tensor whole = x;
  if (is_floating(x->type.dtype)) {
    const DType byte = least < 0 ? DType::kI8 : DType::kU8;
    whole = clip(cast(x, byte), integer(least), integer(greatest));
  }
  return bitcast(masked(cast(whole, DType::kU8), greatest - least), to);
}

// Returns the float32 values of codes of e8m0, which are powers of two.
Tensor decode_powers(const Tensor& code) {
  const int64_t least = int64_t{1} << (kBinary32.mantissa_bits - 1);  // 2^-127 is subnormal.
  const Tensor bits =
      where(equal(code, integer(0)), integer(least), shifted_left(code, kBinary32.mantissa_bits));
  return bitcast(where(equal(code, integer(0xff)), integer(kNaN32), bits), kBinary32.value);
}

// Returns the elements of a storage dtype with floats, as float32. All values are exact.
Tensor decode_floats(const Tensor& x) {
  const DType dtype = x->type.dtype;
  const StorageFormat& f = storage_format(dtype);
  Tensor code = cast(bitcast(x, DType::kU8), kBinary32.bits);
  if (f.sign == 0) return decode_powers(code);
  code = masked(code, f.sign | (f.sign - 1));
  const Tensor rest = masked(code, f.sign - 1);
  // Moves exponent and mantissa to their places in float32 and corrects the bias. Computes
  // subnormal values by a product instead, because devices may flush subnormal float32 to zero.
  const int shift = kBinary32.mantissa_bits - f.mantissa_bits;
  const Tensor normal = add(shifted_left(rest, shift),
                            integer(int64_t{kBinary32.bias - f.bias} << kBinary32.mantissa_bits));
  const double unit = decode_storage(1, dtype);
  const Tensor subnormal = bitcast(cast(rest, kBinary32.value) * unit, kBinary32.bits);
  Tensor bits = where(less(rest, integer(int64_t{1} << f.mantissa_bits)), subnormal, normal);
  if (!f.unsigned_zero && f.nan < f.sign) {
    Tensor special = fill(integer(kNaN32), {}, kBinary32.bits);
    if (f.overflow != f.nan)
      special = where(equal(rest, integer(f.overflow)), integer(kInfinity32), special);
    bits = where(greater(rest, integer(f.greatest)), special, bits);
  }
  int sign_shift = 24;
  for (int sign = f.sign; sign < 0x80; sign *= 2) ++sign_shift;
  bits = bitwise_or(bits, shifted_left(masked(code, f.sign), sign_shift));
  if (f.unsigned_zero) bits = where(equal(code, integer(f.sign)), integer(kNaN32), bits);
  return bitcast(bits, kBinary32.value);
}

// Returns the codes of e8m0 for floats: their exponents, after rounding.
Tensor encode_powers(const Tensor& x, const Binary& b, bool saturate) {
  const StorageFormat& f = storage_format(DType::kF8E8M0FNU);
  const int m = b.mantissa_bits;
  const Tensor bits = bitcast(x, b.bits);
  // Ties round up: of the significands 1 and 2 beside 1.5, only 2 is even.
  Tensor code = shifted_right(add(bits, integer(int64_t{1} << (m - 1))), m);
  code = sub(code, integer(b.bias - f.bias));
  if (b.bias == f.bias) {  // Below 2^-126, float32 is subnormal, and its exponent field is 0.
    const Tensor is_above = greater_equal(bits, integer(int64_t{3} << (m - 2)));
    code = where(less(bits, integer(int64_t{1} << m)), cast(is_above, b.bits), code);
  }
  if (saturate) {
    code = clip(code, integer(0), integer(f.greatest));
  } else {
    code = maximum(minimum(code, integer(f.overflow)), integer(0));
    code = where(equal(x, number(0)), integer(f.nan), code);
  }
  const Tensor is_valid = greater_equal(x, number(0));  // False for NaN.
  return where(is_valid, code, integer(f.nan));
}

// Returns the codes for floats that have the dtype of `b`.
Tensor encode_codes(const Tensor& x, const Binary& b, DType to, bool saturate) {
  const StorageFormat& f = storage_format(to);
  const int m = f.mantissa_bits;
  const Tensor bits = bitcast(x, b.bits);
  const Tensor rest = masked(bits, b.all_but_sign);
  const int64_t least = 1 - f.bias, greatest = (f.greatest >> m) - f.bias;
  Tensor exponent = sub(shifted_right(rest, b.mantissa_bits), integer(b.bias));
  exponent = clip(exponent, integer(least), integer(greatest + 1));
  // `scale` is the reciprocal of the distance between adjacent values of the format near x, so that
  // the scaled value is rounded to a whole number. The product is exact.
  const Tensor scale =
      bitcast(shifted_left(sub(integer(m + b.bias), exponent), b.mantissa_bits), b.value);
  // The bound keeps infinity in the range of integers, beyond the codes of all values.
  const Tensor scaled = minimum(mul(bitcast(rest, b.value), scale), number(1 << (m + 2)));
  const Tensor whole = cast(round(scaled), b.bits);
  Tensor code = add(whole, shifted_left(sub(exponent, integer(least)), m));
  if (saturate) {
    code = minimum(code, integer(f.greatest));
  } else {
    code = where(greater(code, integer(f.greatest)), integer(f.overflow), code);
  }
  Tensor is_negative = less(bits, integer(0));
  if (f.unsigned_zero) is_negative = logical_and(is_negative, greater(code, integer(0)));
  code = where(is_negative, bitwise_or(code, integer(f.sign)), code);
  return where(isnan(x), integer(f.nan), code);
}

Tensor encode_floats(const Tensor& x, DType to, bool saturate) {
  const DType from = x->type.dtype;
  const bool is_wide = from == DType::kF64 || from == DType::kF128;
  const Binary& b = is_wide ? kBinary64 : kBinary32;
  const Tensor value = to_dtype(x, b.value);
  const Tensor codes = to == DType::kF8E8M0FNU ? encode_powers(value, b, saturate)
                                               : encode_codes(value, b, to, saturate);
  return bitcast(cast(codes, DType::kU8), to);
}

// Converts between a storage dtype and any dtype.
Tensor convert(const Tensor& x, const CastAttrs& attrs) {
  const DType from = x->type.dtype;
  if (from == attrs.to) return x;
  Tensor value = x;
  if (is_storage(from)) value = is_storage_float(from) ? decode_floats(x) : decode_integers(x);
  if (is_storage_float(attrs.to)) return encode_floats(value, attrs.to, attrs.saturate);
  return is_storage(attrs.to) ? encode_integers(value, attrs.to) : cast(value, attrs.to);
}

// Runs an op that only moves elements on the bytes of its operands.
Tensors run_on_bytes(Scope& scope, const Call& call, const TensorTypes& types) {
  Tensors views;
  SmallVector<TensorImpl*, 6> inputs;
  std::vector<TensorType> byte_types;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    Tensor x = Tensor::share(call.inputs[i]);
    byte_types.push_back(call.types[i]);
    if (is_storage(call.types[i].dtype)) {
      byte_types.back().dtype = DType::kU8;
      if (x->is_scalar_value()) x = with_dtype(scope, *x, call.types[i].dtype);
      x = make_view(*x, TensorType(DType::kU8, x->shape()), x->strides, x->offset);
    }
    inputs.push_back(x.get());
    views.push_back(std::move(x));
  }
  SmallVector<const TensorType*, 6> given;
  for (const TensorType& type : byte_types) given.push_back(&type);
  Tensors outputs = eager(scope, {call.op, call.attrs, inputs, {given.data(), given.size()}});
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_storage(types[i].dtype)) continue;
    const TensorImpl& y = *outputs[i];
    outputs[i] = make_view(y, TensorType(types[i].dtype, y.shape()), y.strides, y.offset);
  }
  return outputs;
}

}  // namespace

bool uses_storage_dtype(const Call& call, const TensorTypes& types) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (is_storage(call.types[i].dtype)) return true;
  }
  return any_of(types, [](const TensorType& type) { return is_storage(type.dtype); });
}

void require_accepts_storage(const OpDef& op, TypeSpan types) {
  // The host runs control flow, which passes tensors on.
  if (op.storage != StorageUse::kRefused || op.is_view || op.run) return;
  for (size_t i = 0; i < types.size(); ++i) {
    require(!is_storage(types[i].dtype),
            "input {} is {}, and ops do not compute with storage dtypes: convert it with cast", i,
            types[i]);
  }
}

Tensors run_on_storage(Scope& scope, const Call& call, const TensorTypes& types) {
  if (call.op.storage == StorageUse::kMoves) return run_on_bytes(scope, call, types);
  if (call.op.decompose) return composites(scope).call(call);
  require(&call.op == &op_def(OpId::k_cast),
          "ops do not compute with storage dtypes such as {}: convert a result with cast",
          types[0].dtype);
  const CastAttrs& attrs = *static_cast<const CastAttrs*>(call.attrs.data);
  const Scope::OnDevice on(scope, common_device(scope, call.inputs));
  Tensor x = Tensor::share(call.inputs[0]);
  if (x->is_scalar_value()) x = with_dtype(scope, *x, call.types[0].dtype);
  return scope.composite_plans().run(
      scope, {call.op, call.attrs}, {&x, 1},
      [&](TensorSpan in) -> Tensors { return {convert(in[0], attrs)}; });
}

}  // namespace tenon
