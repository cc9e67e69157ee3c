// Ops of two elements of one dtype that give another of it.

#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan::spirv {
namespace {

// ---- integers of up to 32 bits

U32 divide(U32 a, U32 b, bool is_signed) {
  Code& code = *a.code;
  // Zero divides as one, and what that gives is not taken. The one quotient that overflows wraps.
  const Bool is_zero = b == 0;
  const U32 divisor = select(is_zero, code.u32(1), b);
  if (!is_signed) return select(is_zero, code.u32(0), a / divisor);
  const Bool is_minus_one = b == ~0u;
  const U32 safe = select(is_minus_one, code.u32(1), divisor);
  return select(is_zero, code.u32(0), select(is_minus_one, -a, signed_divide(a, safe)));
}

U32 remainder(U32 a, U32 b, bool is_signed) {
  return select(b == 0, a.code->u32(0), a - divide(a, b, is_signed) * b);
}

// Whether the exact quotient is negative and no integer, so that floor and truncation differ.
Bool floor_is_below(U32 a, U32 b, U32 rest) { return (rest != 0) & signed_less(a ^ b, 0); }

U32 power(U32 base, U32 exponent, bool is_signed) {
  Code& code = *base.code;
  const Var<U32> result = code.var(code.u32(1)), square = code.var(base), rest = code.var(exponent);
  code.while_([&] { return rest.get() != 0; },
              [&] {
                const U32 now = rest.get();
                result.set(select((now & 1) != 0, result.get() * square.get(), result.get()));
                square.set(square.get() * square.get());
                rest.set(now >> 1);
              });
  if (!is_signed) return result.get();
  // Integers have no fractions to give a negative power.
  const U32 sign = select((exponent & 1) != 0, ~0u, 1);
  const U32 of_negative = select(base == 1, code.u32(1), select(base == ~0u, sign, code.u32(0)));
  return select(signed_less(exponent, 0), of_negative, result.get());
}

U32 word_arithmetic(uint32_t op, U32 a, U32 b, bool is_signed) {
  switch (op) {
    case TENON_OP_add:
      return a + b;
    case TENON_OP_sub:
      return a - b;
    case TENON_OP_mul:
      return a * b;
    case TENON_OP_div:
      return divide(a, b, is_signed);
    case TENON_OP_fmod:
      return remainder(a, b, is_signed);
    case TENON_OP_floor_div: {
      const U32 quotient = divide(a, b, is_signed);
      if (!is_signed) return quotient;
      return quotient - to_u32(floor_is_below(a, b, remainder(a, b, true)));
    }
    case TENON_OP_mod: {
      const U32 rest = remainder(a, b, is_signed);
      if (!is_signed) return rest;
      return select(floor_is_below(a, b, rest), rest + b, rest);
    }
    default:
      return power(a, b, is_signed);
  }
}

// ---- integers of 64 bits

Quotient divide(Wide a, Wide b, bool is_signed) {
  Code& code = *a.low.code;
  const Bool by_zero = is_zero(b);
  const Wide zero = wide(code, 0);
  const Wide divisor = select(by_zero, wide(code, 1), is_signed ? magnitude(b) : b);
  const Quotient of_magnitudes = spirv::divide(is_signed ? magnitude(a) : a, divisor);
  Wide quotient = of_magnitudes.quotient, rest = of_magnitudes.rest;
  if (is_signed) {
    quotient = select(is_negative(a ^ b), -quotient, quotient);
    rest = select(is_negative(a), -rest, rest);
  }
  return {select(by_zero, zero, quotient), select(by_zero, zero, rest)};
}

Wide power(Wide base, Wide exponent, bool is_signed) {
  Code& code = *base.low.code;
  const auto variable = [&](Wide x) { return std::pair(code.var(x.low), code.var(x.high)); };
  const auto get = [](const std::pair<Var<U32>, Var<U32>>& x) {
    return Wide{x.first.get(), x.second.get()};
  };
  const auto set = [](const std::pair<Var<U32>, Var<U32>>& x, Wide value) {
    x.first.set(value.low);
    x.second.set(value.high);
  };
  const auto result = variable(wide(code, 1)), square = variable(base), rest = variable(exponent);
  code.while_([&] { return !is_zero(get(rest)); },
              [&] {
                const Wide now = get(rest), factor = get(square);
                set(result, select((now.low & 1) != 0, get(result) * factor, get(result)));
                set(square, factor * factor);
                set(rest, shift_right(now, code.u32(1), false));
              });
  if (!is_signed) return get(result);
  const Wide one = wide(code, 1), minus_one = wide(code, ~uint64_t{0});
  const Wide sign = select((exponent.low & 1) != 0, minus_one, one);
  const Wide of_negative = select(base == one, one, select(base == minus_one, sign, wide(code, 0)));
  return select(is_negative(exponent), of_negative, get(result));
}

Wide wide_arithmetic(uint32_t op, Wide a, Wide b, bool is_signed) {
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
  const Quotient of = divide(a, b, is_signed);
  if (op == TENON_OP_div || (op == TENON_OP_floor_div && !is_signed)) return of.quotient;
  if (op == TENON_OP_fmod || !is_signed) return of.rest;
  const Bool is_below = (!is_zero(of.rest)) & is_negative(a ^ b);
  const Wide zero = wide(*a.low.code, 0), one = wide(*a.low.code, 1);
  return op == TENON_OP_floor_div ? of.quotient - select(is_below, one, zero)
                                  : of.rest + select(is_below, b, zero);
}

F32 with_sign_of(F32 magnitude, F32 sign) {
  return float_of((bits_of(magnitude) & 0x7fffffffu) | (bits_of(sign) & 0x80000000u));
}

// The remainder with the divisor's sign.
F32 floor_mod(F32 a, F32 b) {
  const F32 rest = fmod(a, b);
  const Bool differs = signed_less(bits_of(rest) ^ bits_of(b), 0);
  const Bool is_zero = (bits_of(rest) & 0x7fffffffu) == 0;
  return select(is_zero, with_sign_of(rest, b), select(differs, rest + b, rest));
}

Element int_arithmetic(uint32_t op, const Element& a, const Element& b) {
  const tenon_dtype dtype = a.dtype();
  const bool is_signed = is_signed_int(dtype);
  if (a.kind() == Kind::kWide) return {dtype, wide_arithmetic(op, a.wide(), b.wide(), is_signed)};
  return {dtype, wrapped(dtype, word_arithmetic(op, a.word(), b.word(), is_signed))};
}

F32 float_arithmetic(uint32_t op, F32 a, F32 b) {
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
      return with_sign_of(a, b);  // copysign
  }
}

}  // namespace

Element arithmetic(uint32_t op, const Element& a, const Element& b) {
  if (op == TENON_OP_maximum) return maximum(a, b);
  if (op == TENON_OP_minimum) return minimum(a, b);
  if (a.kind() == Kind::kF32) {
    return {a.dtype(), rounded(a.dtype(), float_arithmetic(op, a.f32(), b.f32()))};
  }
  if (a.kind() != Kind::kF64) return int_arithmetic(op, a, b);
  switch (op) {
    case TENON_OP_add:
      return Element(a.f64() + b.f64());
    case TENON_OP_sub:
      return Element(a.f64() - b.f64());
    case TENON_OP_mul:
      return Element(a.f64() * b.f64());
    case TENON_OP_div:
      return Element(a.f64() / b.f64());
    default: {  // copysign
      const Bits x = bits_of(a), y = bits_of(b);
      return element_of(TENON_FLOAT64, {x.low, (x.high & 0x7fffffffu) | (y.high & 0x80000000u)});
    }
  }
}

Element maximum(const Element& a, const Element& b) {
  const Bool keeps = compare(TENON_OP_less, b, a);
  return select(is_float(a.dtype()) ? is_nan(a) | keeps : keeps, a, b);
}

Element minimum(const Element& a, const Element& b) {
  const Bool keeps = compare(TENON_OP_less, a, b);
  return select(is_float(a.dtype()) ? is_nan(a) | keeps : keeps, a, b);
}

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
  // A negative distance counts as beyond the width, like a large one.
  const Bool is_beyond = y >= 32;
  const U32 by = y & 31;
  if (is_left) return {dtype, wrapped(dtype, select(is_beyond, code.u32(0), x << by))};
  if (!is_signed) return {dtype, select(is_beyond, code.u32(0), x >> by)};
  return {dtype, signed_shift_right(x, select(is_beyond, code.u32(31), by))};
}

}  // namespace tenon_vulkan::spirv
