// Exact quotients and remainders of floats by binary long division. A driver's division may have an
// error of 2.5 ULP.

#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan::spirv {
namespace {

// Returns the index of the highest set bit; -1 for zero.
U32 highest_bit(U32 x) { return x.code->glsl<U32>(GLSLstd450FindUMsb, {x.id}); }
// Return the index of the highest set bit; 0 for zero.
U32 highest_bit_index(U32 x) { return highest_bit(max(x, x.code->u32(1))); }
U32 highest_bit_index(Wide x) {
  return select(x.high != 0, highest_bit_index(x.high) + 32, highest_bit_index(x.low));
}

// Return the low word of an integer of 32 or 64 bits.
U32 low_word(U32 x) { return x; }
U32 low_word(Wide x) { return x.low; }
// Convert a word to the integer type of the unused second argument.
U32 extend_word(U32 word, U32) { return word; }
Wide extend_word(U32 word, Wide) { return zero_extended(word); }

// Return the float that is nearest to an integer. `is_above`: the exact value is slightly larger
// than the integer, because nonzero digits after it were dropped. The unused third argument
// selects the type of the result.
F32 nearest_float(Wide x, Bool is_above, F32) { return float_of_wide(x, is_above, false); }
// Like the previous function, but returns the nearest double.
F64 nearest_float(Wide x, Bool is_above, F64) {
  return float64_of(x | zero_extended(to_u32(is_above)), false);
}

// Constants and functions for the bit layout of a float type.
template <class Float>
struct Format {
  using Int = decltype(bits_of(Float()));
  static constexpr bool kIsDouble = sizeof(Int) == sizeof(Wide);
  static constexpr uint32_t kDigits = kIsDouble ? 52 : 23;  // Mantissa bits after the leading 1.
  static constexpr uint32_t kBias = kIsDouble ? 1023 : 127;

  Code& code;
  Int zero = number<Int>(code, 0);
  Int first = number<Int>(code, int64_t{1} << kDigits);  // The leading 1 bit of a mantissa.
  Int sign = number<Int>(code, 1) << code.u32(kIsDouble ? 63 : 31);
  Int infinity = exponent(code.u32(2 * kBias + 1));

  Int exponent(U32 value) const { return extend_word(value, Int()) << code.u32(kDigits); }
  Int magnitude(Float x) const { return bits_of(x) & ~sign; }
};

// A positive float as mantissa * 2^(exponent - kBias - kDigits). The mantissa is an integer below
// 2^(kDigits + 1). That of a subnormal number is normalised, so its exponent may be below 1.
template <class Int>
struct Parts {
  Int mantissa;
  U32 exponent;
};

// Splits a positive float, given by its bits, and normalises subnormal numbers.
template <class Float, class Int>
Parts<Int> split_float(const Format<Float>& format, Int magnitude) {
  const U32 digits = format.code.u32(format.kDigits), one = format.code.u32(1);
  const Int fraction = magnitude & (format.first - number<Int>(format.code, 1));
  const U32 exponent = low_word(shift_right(magnitude, digits, false));
  const U32 up = digits - highest_bit_index(fraction);
  const Bool is_subnormal = exponent == 0;
  return {select(is_subnormal, fraction << up, fraction | format.first),
          select(is_subnormal, one - up, exponent)};
}

// Returns the bits of the float with these parts. Requires that it is representable.
template <class Float, class Int>
Int assemble_float(const Format<Float>& format, const Parts<Int>& parts) {
  Code& code = format.code;
  const U32 up = code.u32(format.kDigits) - highest_bit_index(parts.mantissa);
  const U32 exponent = parts.exponent - up;
  const Int normal = (parts.mantissa << up) - format.first + format.exponent(exponent);
  // Shifts the mantissa of a subnormal result into place.
  const Bool moves_down = signed_less(parts.exponent, 1);
  const U32 by = select(moves_down, code.u32(1) - parts.exponent, parts.exponent - 1) &
                 (format.kIsDouble ? 63 : 31);
  const Int subnormal =
      select(moves_down, shift_right(parts.mantissa, by, false), parts.mantissa << by);
  const Bool is_normal = signed_less(code.u32(0), exponent);
  return select(is_zero(parts.mantissa), format.zero, select(is_normal, normal, subnormal));
}

// The quotient and the remainder `rest` of positive floats. The integer part of the exact quotient
// has more digits than `quotient` can hold if `dropped` is positive: it is quotient * 2^dropped
// plus the dropped digits. `is_above`: at least one dropped digit is nonzero.
template <class Int>
struct Digits {
  Wide quotient;
  U32 dropped;
  Bool is_above;
  Parts<Int> rest;
};

// Divides positive floats, given by their bits, by binary long division.
template <class Float, class Int>
Digits<Int> divide(const Format<Float>& format, Int a, Int b) {
  Code& code = format.code;
  const U32 zero = code.u32(0);
  const Parts<Int> x = split_float(format, a), y = split_float(format, b);
  const IntVar<Int> rest(x.mantissa);
  const IntVar<Wide> quotient(wide(code, 0));
  const Var<U32> dropped = code.var(zero), lost = code.var(zero);
  const Bool is_below = signed_less(x.exponent, y.exponent);
  const U32 steps = select(is_below, zero, x.exponent - y.exponent + 1);
  code.for_(zero, steps, code.u32(1), [&](U32 i) {
    const Int now = select(i == 0, rest.get(), rest.get() << code.u32(1));
    const Bool fits = !(now < y.mantissa);
    rest.set(select(fits, now - y.mantissa, now));
    const Wide before = quotient.get();
    const Bool is_full = before.high >= 0x40000000u;
    const Wide next = {before.low << 1 | to_u32(fits), before.high << 1 | before.low >> 31};
    quotient.set(select(is_full, before, next));
    dropped.set(dropped.get() + to_u32(is_full));
    lost.set(select(is_full, lost.get() | to_u32(fits), lost.get()));
  });
  return {quotient.get(),
          dropped.get(),
          lost.get() != 0,
          {rest.get(), select(is_below, x.exponent, y.exponent)}};
}

// Divides like divide() if `is_ordinary`. Otherwise an operand is zero, infinite or NaN, and the
// result is unspecified.
template <class Float, class Int>
Digits<Int> divide_if_ordinary(Bool is_ordinary, const Format<Float>& format, Int a, Int b) {
  const Int one = format.exponent(format.code.u32(format.kBias));
  return divide(format, select(is_ordinary, a, one), select(is_ordinary, b, one));
}

template <class Float>
Float exact_fmod(Float a, Float b) {
  const Format<Float> format = {*a.code};
  const auto x = format.magnitude(a), y = format.magnitude(b);
  const Bool is_invalid = (!(x < format.infinity)) | (format.infinity < y) | is_zero(y);
  const Bool is_itself = (y == format.infinity) | is_zero(x);
  const auto digits = divide_if_ordinary(!(is_invalid | is_itself), format, x, y);
  const auto rest = select(is_itself, x, assemble_float(format, digits.rest));
  const auto nan = format.infinity | shift_right(format.first, a.code->u32(1), false);
  return float_of(select(is_invalid, nan, rest | (bits_of(a) & format.sign)));
}

template <class Float>
Float exact_floor_divide(Float a, Float b) {
  Code& code = *a.code;
  const Format<Float> format = {code};
  const auto x = format.magnitude(a), y = format.magnitude(b);
  const auto sign = (bits_of(a) ^ bits_of(b)) & format.sign;
  // In these cases the device's quotient is NaN, infinity or a signed zero, and is correct.
  const Bool is_quotient =
      (!(x < format.infinity)) | (format.infinity < y) | is_zero(y) | is_zero(x);
  const Bool by_infinity = (y == format.infinity) & !is_quotient;
  const Bool is_ordinary = !(is_quotient | by_infinity);
  const auto digits = divide_if_ordinary(is_ordinary, format, x, y);
  const Bool is_whole = is_zero(digits.rest.mantissa) & is_ordinary;
  const Wide more = zero_extended(to_u32((!is_zero(sign)) & !is_whole));
  const Wide whole = select(is_ordinary, digits.quotient, wide(code, 0)) + more;
  const Float near = nearest_float(whole, digits.is_above, a);
  // Scales by a power of two, which may overflow.
  const auto power_of_two = [&](U32 exponent) {
    return float_of(format.exponent(exponent + format.kBias));
  };
  const U32 most = code.u32(format.kBias);
  const U32 exponent = min(digits.dropped, most);
  const Float scaled =
      near * power_of_two(exponent) * power_of_two(min(digits.dropped - exponent, most));
  // floor_div of an infinite dividend is NaN, because an infinity has no remainder.
  const auto nan = format.infinity | shift_right(format.first, code.u32(1), false);
  const Float quotient = select((x == format.infinity) & !is_zero(y), float_of(nan), a / b);
  return select(is_quotient, quotient, float_of(format.magnitude(scaled) | sign));
}

// Divides with the device's instruction, after scaling both operands by a power of two. The scale
// moves the divisor into the range for which Vulkan specifies the accuracy of division. If the
// scaled dividend underflows or overflows, so does the quotient. The scale is `up` if the divisor
// is subnormal, `down` if its exponent bits are at least `large`, and otherwise `one`.
template <class Float, class Int>
Float scaled_divide(Float a, Float b, Int large, Float down, Float up, Float one) {
  const Format<Float> format = {*a.code};
  const Int exponent = bits_of(b) & format.infinity;
  const Float by = select(is_zero(exponent), up, select(exponent < large, one, down));
  return a.code->template emit<Float>(spv::Op::OpFDiv, {(a * by).id, (b * by).id});
}

}  // namespace

F32 operator/(F32 a, F32 b) {
  Code& code = *a.code;
  if (code.has_exact_range_division()) return code.emit<F32>(spv::Op::OpFDiv, {a.id, b.id});
  return scaled_divide(a, b, code.u32(0x7e800000u), code.f32(0x1p-2f), code.f32(0x1p24f),
                       code.f32(1));
}
F64 operator/(F64 a, F64 b) {
  Code& code = *a.code;
  if (code.has_exact_range_division()) return code.emit<F64>(spv::Op::OpFDiv, {a.id, b.id});
  return scaled_divide(a, b, wide(code, uint64_t{0x7fd} << 52), code.f64(0x1p-2), code.f64(0x1p54),
                       code.f64(1));
}

F32 fmod(F32 a, F32 b) { return exact_fmod(a, b); }
F64 fmod(F64 a, F64 b) { return exact_fmod(a, b); }
F32 floor_divide(F32 a, F32 b) { return exact_floor_divide(a, b); }
F64 floor_divide(F64 a, F64 b) { return exact_floor_divide(a, b); }

// Returns the float nearest to an unsigned integer or, if `is_above`, nearest to a slightly larger
// number. With `to_odd`, rounds to odd.
F32 float_of_wide(Wide x, Bool is_above, bool to_odd) {
  Code& code = *x.low.code;
  const U32 zero = code.u32(0), one = code.u32(1);
  const Bool is_long = x.high != 0;
  const U32 top = select(is_long, highest_bit(max(x.high, one)) + 32, highest_bit(max(x.low, one)));
  // Shifts the highest set bit to bit 63. The upper 24 bits become the mantissa, and the lower bits
  // determine the rounding.
  const Wide up = x << ((code.u32(63) - top) & 63);
  const U32 mantissa = up.high >> 8;
  const Bool is_inexact = ((up.high & 0xffu) != 0) | (up.low != 0) | is_above;
  const U32 exponent = (top + 127) << 23;
  U32 bits = (mantissa & 0x7fffffu) | exponent;
  if (to_odd) {
    bits = bits | to_u32(is_inexact);
  } else {
    const Bool is_beyond = ((up.high & 0x7fu) != 0) | (up.low != 0) | is_above;
    const Bool is_half = (up.high & 0x80u) != 0;
    bits = bits + to_u32(is_half & (is_beyond | ((mantissa & 1) != 0)));
  }
  return float_of(select(is_zero(x), zero, bits));
}

}  // namespace tenon_vulkan::spirv
