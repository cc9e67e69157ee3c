// Casts between all dtypes. From float to integer: truncates, then saturates; NaN becomes 0.
// Between integers: wraps. To bool: everything but zero is true, including NaN. To float: rounds
// once.

#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan::spirv {
namespace {

// Returns the integer part of a positive float below 2^64, given by its bits. `bias` is the bias of
// the exponent, `digits` the number of mantissa bits.
Wide truncate_magnitude(Wide magnitude, uint32_t bias, uint32_t digits) {
  Code& code = *magnitude.low.code;
  const Wide one = wide(code, 1);
  const U32 exponent = shift_right(magnitude, code.u32(digits), false).low;
  const Wide mantissa =
      (magnitude & wide(code, (uint64_t{1} << digits) - 1)) | (one << code.u32(digits));
  const U32 up = exponent - (bias + digits);
  const Bool is_up = !signed_less(up, 0);
  const Wide whole = select(is_up, mantissa << (up & 63), shift_right(mantissa, (-up) & 63, false));
  return select(exponent < bias, wide(code, 0), whole);
}

// Converts a float to an integer of up to 64 bits, with saturation.
Wide to_int(const Element& x, tenon_dtype to) {
  Code& code = x.code();
  const bool is_double = x.kind() == Kind::kF64;
  const Wide bits = is_double ? bits_of(x.f64()) : zero_extended(bits_of(x.f32()));
  const uint32_t bias = is_double ? 1023 : 127, digits = is_double ? 52 : 23;
  const Wide sign = wide(code, is_double ? uint64_t{1} << 63 : uint64_t{1} << 31);
  const Bool is_negative = !is_zero(bits & sign);
  const Wide magnitude = bits & ~sign;
  const U32 exponent = shift_right(magnitude, code.u32(digits), false).low;
  const Wide whole = truncate_magnitude(magnitude, bias, digits);

  const auto width = static_cast<uint32_t>(8 * tenon_sdk::size_of(to));
  const bool is_signed = is_signed_int(to);
  // The magnitudes of the largest and of the smallest value of the integer dtype.
  const uint64_t largest = ~uint64_t{0} >> (64 - width + (is_signed ? 1 : 0));
  const uint64_t smallest = is_signed ? largest + 1 : 0;
  const Wide limit = select(is_negative, wide(code, smallest), wide(code, largest));
  const Bool is_beyond = (exponent >= bias + 64) | (limit < whole);
  const Wide within = select(is_beyond, limit, whole);
  const Wide result = select(is_negative, -within, within);
  return select(is_nan(x), wide(code, 0), result);
}

// Extends an integer of any width to 64 bits.
Wide int_to_wide(const Element& x) {
  if (x.kind() == Kind::kWide) return x.wide();
  return is_signed_int(x.dtype()) ? sign_extended(x.word()) : zero_extended(x.word());
}

// Converts a float32 or an integer to float64.
F64 to_double(const Element& x) {
  if (x.kind() == Kind::kF32) return x.code().emit<F64>(spv::Op::OpFConvert, {x.f32().id});
  return float64_of(int_to_wide(x), is_signed_int(x.dtype()));
}

// Rounds a double to odd: if inexact, to the neighbouring float whose last bit is 1. Rounding this
// float to a half type then gives the same result as rounding the double directly.
F32 round_to_odd_float(F64 x) {
  Code& code = *x.code;
  const F32 near = code.emit<F32>(spv::Op::OpFConvert, {x.id});
  const F64 back = code.emit<F64>(spv::Op::OpFConvert, {near.id});
  const U32 bits = bits_of(near);
  const auto size_of = [&](F64 y) { return code.glsl<F64>(GLSLstd450FAbs, {y.id}); };
  const U32 beside = select(size_of(x) < size_of(back), bits - 1, bits + 1);
  const Bool is_kept = (back == x) | (x != x) | ((bits & 1) != 0);
  return float_of(select(is_kept, bits, beside));
}

// Converts an integer to float32. Rounds to nearest even or, if `to_odd`, to odd.
F32 int_to_single(const Element& x, bool to_odd) {
  const Wide y = int_to_wide(x);
  const Bool nothing = x.code().boolean(false);
  if (!is_signed_int(x.dtype())) return float_of_wide(y, nothing, to_odd);
  const U32 bits = bits_of(float_of_wide(magnitude(y), nothing, to_odd));
  return float_of(bits | (y.high & 0x80000000u));
}

// Converts a number to float32. If `to` is a half type, inexact results are rounded to odd, so that
// the final rounding to the half type is correct.
F32 to_single(const Element& x, tenon_dtype to) {
  const bool is_half = to != TENON_FLOAT32;
  if (x.kind() == Kind::kF32) return x.f32();
  if (x.kind() != Kind::kF64) return int_to_single(x, is_half);
  return is_half ? round_to_odd_float(x.f64())
                 : x.code().emit<F32>(spv::Op::OpFConvert, {x.f64().id});
}

// Whether the element is nonzero. NaN counts as nonzero.
Bool is_true(const Element& x) {
  const Bits bits = bits_of(x);
  switch (x.kind()) {
    case Kind::kBool:
      return x.boolean();
    case Kind::kF32:
      return (bits_of(x.f32()) & 0x7fffffffu) != 0;
    case Kind::kF64:
      return (bits.low | (bits.high & 0x7fffffffu)) != 0;
    default:
      return (bits.low | bits.high) != 0;
  }
}

}  // namespace

// Each word is converted exactly; the sum of the two rounds once.
F64 float64_of(Wide x, bool is_signed) {
  Code& code = *x.low.code;
  const F64 low = code.emit<F64>(spv::Op::OpConvertUToF, {x.low.id});
  const F64 high =
      code.emit<F64>(is_signed ? spv::Op::OpConvertSToF : spv::Op::OpConvertUToF, {x.high.id});
  return high * code.f64(0x1p32) + low;
}

// Returns the element converted to the dtype `to`.
Element cast(const Element& x, tenon_dtype to) {
  if (x.dtype() == to) return x;
  if (to == TENON_BOOL) return Element(is_true(x));
  if (x.kind() == Kind::kBool) {
    return select(x.boolean(), constant(x.code(), to, 1), constant(x.code(), to, 0));
  }
  switch (kind_of(to)) {
    case Kind::kF64:
      return Element(to_double(x));
    case Kind::kF32:
      return {to, round_to_dtype(to, to_single(x, to))};
    default: {
      const Wide y = is_float(x.dtype()) ? to_int(x, to) : int_to_wide(x);
      return kind_of(to) == Kind::kWide ? Element(to, y) : Element(to, wrap_to_dtype(to, y.low));
    }
  }
}

}  // namespace tenon_vulkan::spirv
