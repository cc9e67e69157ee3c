// Binary ops on two elements of one dtype with a result of the same dtype.

#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan::spirv {
namespace {

// ---- integers: 32-bit words, and pairs of words

// Integer division. If the divisor is 0, quotient and remainder are 0. The only quotient that
// overflows, minimum / -1, wraps.
Divided<U32> divide_ints(U32 a, U32 b, bool is_signed) {
  Code& code = *a.code;
  const U32 zero = code.u32(0), one = code.u32(1);
  const Bool by_zero = is_zero(b);
  // Replaces a zero divisor by 1; that quotient is discarded.
  const U32 divisor = select(by_zero, one, b);
  U32 quotient;
  if (is_signed) {
    const Bool by_minus_one = b == ~0u;
    quotient = select(by_minus_one, -a, signed_divide(a, select(by_minus_one, one, divisor)));
  } else {
    quotient = a / divisor;
  }
  return {select(by_zero, zero, quotient), select(by_zero, zero, a - quotient * b)};
}

Divided<Wide> divide_ints(Wide a, Wide b, bool is_signed) {
  Code& code = *a.low.code;
  const Wide zero = wide(code, 0);
  const Bool by_zero = is_zero(b);
  const Wide divisor = select(by_zero, wide(code, 1), is_signed ? magnitude(b) : b);
  const Divided<Wide> of_magnitudes = divide(is_signed ? magnitude(a) : a, divisor);
  Wide quotient = of_magnitudes.quotient, rest = of_magnitudes.rest;
  if (is_signed) {
    quotient = select(is_negative(a ^ b), -quotient, quotient);
    rest = select(is_negative(a), -rest, rest);
  }
  return {select(by_zero, zero, quotient), select(by_zero, zero, rest)};
}

// Integer power by repeated squaring. Wraps around.
template <class Int>
Int power(Int base, Int exponent, bool is_signed) {
  Code& code = code_of(base);
  const Int zero = number<Int>(code, 0), one = number<Int>(code, 1);
  const IntVar<Int> result(one), square(base), rest(exponent);
  code.while_([&] { return !is_zero(rest.get()); },
              [&] {
                const Int now = rest.get(), factor = square.get();
                result.set(select(is_odd(now), result.get() * factor, result.get()));
                square.set(factor * factor);
                rest.set(shift_right(now, code.u32(1), false));
              });
  if (!is_signed) return result.get();
  // Integers cannot represent negative powers, except those of 1 and -1.
  const Int minus_one = number<Int>(code, -1);
  const Int sign = select(is_odd(exponent), minus_one, one);
  const Int of_negative = select(base == one, one, select(base == minus_one, sign, zero));
  return select(is_negative(exponent), of_negative, result.get());
}

// Returns the result of a binary arithmetic op on integers of 32 or 64 bits.
template <class Int>
Int int_arithmetic(uint32_t op, Int a, Int b, bool is_signed) {
  switch (op) {
    case TENON_OP_add:
      return a + b;
    case TENON_OP_sub:
      return a - b;
    case TENON_OP_mul:
      return a * b;
    case TENON_OP_pow:
      return power(a, b, is_signed);
    default:
      break;
  }
  const Divided<Int> of = divide_ints(a, b, is_signed);
  if (op == TENON_OP_div || (op == TENON_OP_floor_div && !is_signed)) return of.quotient;
  if (op == TENON_OP_fmod || !is_signed) return of.rest;
  // If the exact quotient is negative and not an integer, floor and truncation differ.
  const Bool is_below = (!is_zero(of.rest)) & is_negative(a ^ b);
  const Int zero = number<Int>(code_of(a), 0), one = number<Int>(code_of(a), 1);
  return op == TENON_OP_floor_div ? of.quotient - select(is_below, one, zero)
                                  : of.rest + select(is_below, b, zero);
}

// Return the sign bit of a float that is given by its bits, and zeros in all other bits.
U32 sign_bit(U32 bits) { return bits & 0x80000000u; }
Wide sign_bit(Wide bits) { return {bits.low.code->u32(0), sign_bit(bits.high)}; }

template <class Float>
Float copy_sign(Float magnitude, Float sign) {
  const auto bits = bits_of(magnitude);
  return float_of((bits ^ sign_bit(bits)) | sign_bit(bits_of(sign)));
}

// Returns rest + b. The remainder `rest` may be subnormal, which devices may flush to zero.
F64 add_divisor_to_remainder(F64 rest, F64 b) { return rest + b; }
F32 add_divisor_to_remainder(F32 rest, F32 b) {
  Code& code = *rest.code;
  if (!code.may_flush_subnormals()) return rest + b;
  // If `b` is large, a subnormal remainder is negligible. If `b` is small, both are scaled by 2^149
  // before they are added, so that no operand is subnormal.
  const auto up = [&](F32 x) {
    const U32 fraction = bits_of(x) & 0x7fffffffu;
    const F32 multiple = code.emit<F32>(spv::Op::OpConvertUToF, {fraction.id});
    const F32 scaled = x * code.f32(0x1p100f) * code.f32(0x1p49f);
    return select(fraction < 0x800000u, copy_sign(multiple, x), scaled);
  };
  const Bool is_small = (bits_of(b) & 0x7fffffffu) < bits_of(code.f32(0x1p-60f));
  const F32 sum = (up(rest) + up(b)) * code.f32(0x1p-100f) * code.f32(0x1p-49f);
  return select(is_small, sum, rest + b);
}

// Returns the remainder with the divisor's sign.
template <class Float>
Float floor_mod(Float a, Float b) {
  const Float rest = fmod(a, b);
  const auto bits = bits_of(rest);
  const Bool differs = !is_zero(sign_bit(bits ^ bits_of(b)));
  const Bool is_nothing = is_zero(bits ^ sign_bit(bits));
  return select(is_nothing, copy_sign(rest, b),
                select(differs, add_divisor_to_remainder(rest, b), rest));
}

// Returns the result of a binary arithmetic op on integers of any dtype.
Element int_arithmetic(uint32_t op, const Element& a, const Element& b) {
  const tenon_dtype dtype = a.dtype();
  const bool is_signed = is_signed_int(dtype);
  if (a.kind() == Kind::kWide) return {dtype, int_arithmetic(op, a.wide(), b.wide(), is_signed)};
  return {dtype, wrap_to_dtype(dtype, int_arithmetic(op, a.word(), b.word(), is_signed))};
}

// Returns the result of a binary arithmetic op on floats, before it is rounded to a half type.
template <class Float>
Float float_arithmetic(uint32_t op, Float a, Float b) {
  switch (op) {
    case TENON_OP_add:
      return a + b;
    case TENON_OP_sub:
      return a - b;
    case TENON_OP_mul:
      return a * b;
    case TENON_OP_div:
      return a / b;
    case TENON_OP_floor_div:
      return floor_divide(a, b);
    case TENON_OP_mod:
      return floor_mod(a, b);
    case TENON_OP_fmod:
      return fmod(a, b);
    default:
      return copy_sign(a, b);  // The op copysign.
  }
}

}  // namespace

// Returns the result of a binary arithmetic op; both elements have the same dtype.
Element arithmetic(uint32_t op, const Element& a, const Element& b) {
  if (op == TENON_OP_maximum) return maximum(a, b);
  if (op == TENON_OP_minimum) return minimum(a, b);
  if (a.kind() == Kind::kF32) {
    return {a.dtype(), round_to_dtype(a.dtype(), float_arithmetic(op, a.f32(), b.f32()))};
  }
  if (a.kind() == Kind::kF64) return Element(float_arithmetic(op, a.f64(), b.f64()));
  return int_arithmetic(op, a, b);
}

// Returns the maximum number of loop iterations of the code of `op` for one element.
uint32_t iterations_of(uint32_t op, tenon_dtype dtype) {
  const bool is_rest = op == TENON_OP_floor_div || op == TENON_OP_mod || op == TENON_OP_fmod;
  switch (kind_of(dtype)) {
    case Kind::kF32:
      return is_rest ? 280 : 0;
    case Kind::kF64:
      return is_rest ? 2100 : 0;
    case Kind::kWide:
      return is_rest || op == TENON_OP_div || op == TENON_OP_pow ? 64 : 0;
    default:
      return op == TENON_OP_pow ? 32 : 0;
  }
}

// Returns the greater element, or NaN if one of them is NaN.
Element maximum(const Element& a, const Element& b) {
  const Bool keeps = compare(TENON_OP_less, b, a);
  return select(is_float(a.dtype()) ? is_nan(a) | keeps : keeps, a, b);
}

// Returns the smaller element, or NaN if one of them is NaN.
Element minimum(const Element& a, const Element& b) {
  const Bool keeps = compare(TENON_OP_less, a, b);
  return select(is_float(a.dtype()) ? is_nan(a) | keeps : keeps, a, b);
}

// Returns the result of a bitwise or logical op, or of a shift.
Element bitwise(uint32_t op, const Element& a, const Element& b) {
  const tenon_dtype dtype = a.dtype();
  Code& code = a.code();
  if (a.kind() == Kind::kBool) {
    const Bool x = a.boolean(), y = b.boolean();
    if (op == TENON_OP_bitwise_and || op == TENON_OP_logical_and) return Element(x & y);
    if (op == TENON_OP_bitwise_or || op == TENON_OP_logical_or) return Element(x | y);
    return Element(x != y);
  }
  const bool is_signed = is_signed_int(dtype), is_left = op == TENON_OP_shift_left;
  if (a.kind() == Kind::kWide) {
    const Wide x = a.wide(), y = b.wide();
    if (op == TENON_OP_bitwise_and) return {dtype, x & y};
    if (op == TENON_OP_bitwise_or) return {dtype, x | y};
    if (op == TENON_OP_bitwise_xor) return {dtype, x ^ y};
    const Wide filled = is_signed && !is_left ? shift_right(x, code.u32(63), true) : wide(code, 0);
    const U32 by = y.low & 63;
    const Bool is_beyond = !(y < wide(code, 64));
    return {dtype, select(is_beyond, filled, is_left ? x << by : shift_right(x, by, is_signed))};
  }
  const U32 x = a.word(), y = b.word();
  if (op == TENON_OP_bitwise_and) return {dtype, x & y};
  if (op == TENON_OP_bitwise_or) return {dtype, x | y};
  if (op == TENON_OP_bitwise_xor) return {dtype, x ^ y};
  // A negative shift count is treated as larger than the width.
  const Bool is_beyond = y >= 32;
  const U32 by = y & 31;
  if (is_left) return {dtype, wrap_to_dtype(dtype, select(is_beyond, code.u32(0), x << by))};
  if (!is_signed) return {dtype, select(is_beyond, code.u32(0), x >> by)};
  return {dtype, signed_shift_right(x, select(is_beyond, code.u32(31), by))};
}

}  // namespace tenon_vulkan::spirv
