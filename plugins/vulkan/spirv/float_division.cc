// Quotients of floats that are exact, digit by digit: the drivers' own division may be off by 2.5
// units in the last place.

#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan::spirv {
namespace {

constexpr uint32_t kSign = 0x80000000u, kInfinity = 0x7f800000u, kNaN = 0x7fc00000u;

U32 highest_bit(U32 x) { return x.code->glsl<U32>(GLSLstd450FindUMsb, {x.id}); }

// A positive float as a number of 24 bits times 2^(exponent - 150); subnormal ones too, whose
// exponent may be below 1.
struct Parts {
  U32 mantissa, exponent;
};

Parts parts_of(U32 magnitude) {
  const U32 fraction = magnitude & 0x7fffffu, exponent = magnitude >> 23;
  // Zero is never asked for.
  const U32 up = magnitude.code->u32(23) - highest_bit(max(fraction, magnitude.code->u32(1)));
  const Bool is_subnormal = exponent == 0;
  return {select(is_subnormal, fraction << (up & 31), fraction | magnitude.code->u32(0x800000u)),
          select(is_subnormal, magnitude.code->u32(1) - up, exponent)};
}

// The float of a number below 2^24 times 2^(exponent - 150), which is one.
U32 joined(U32 mantissa, U32 exponent) {
  Code& code = *mantissa.code;
  const U32 up = code.u32(23) - highest_bit(max(mantissa, code.u32(1)));
  const U32 normal_exponent = exponent - up;
  const U32 normal = (mantissa << (up & 31)) - 0x800000u + (normal_exponent << 23);
  const U32 subnormal = mantissa << ((exponent - 1) & 31);
  const Bool is_normal = signed_less(code.u32(0), normal_exponent);
  return select(mantissa == 0, code.u32(0), select(is_normal, normal, subnormal));
}

// The digits of a quotient of positive floats: quotient 2^dropped, of which `is_above` is lost, and
// the rest times 2^(exponent - 150).
struct Digits {
  Wide quotient;
  U32 dropped;
  Bool is_above;
  U32 rest, exponent;
};

Digits divide(U32 a, U32 b) {
  Code& code = *a.code;
  const U32 zero = code.u32(0);
  const Parts x = parts_of(a), y = parts_of(b);
  const Var<U32> rest = code.var(x.mantissa);
  const Var<U32> low = code.var(zero), high = code.var(zero);
  const Var<U32> dropped = code.var(zero), lost = code.var(zero);
  const Bool is_below = signed_less(x.exponent, y.exponent);
  const U32 steps = select(is_below, zero, x.exponent - y.exponent + 1);
  code.for_(zero, steps, code.u32(1), [&](U32 i) {
    const U32 now = select(i == 0, rest.get(), rest.get() << 1);
    const Bool fits = now >= y.mantissa;
    rest.set(select(fits, now - y.mantissa, now));
    const Wide before = {low.get(), high.get()};
    const Bool is_full = before.high >= 0x40000000u;
    const Wide next = {before.low << 1 | to_u32(fits), before.high << 1 | before.low >> 31};
    const Wide kept = select(is_full, before, next);
    low.set(kept.low);
    high.set(kept.high);
    dropped.set(dropped.get() + to_u32(is_full));
    lost.set(select(is_full, lost.get() | to_u32(fits), lost.get()));
  });
  return {{low.get(), high.get()},
          dropped.get(),
          lost.get() != 0,
          rest.get(),
          select(is_below, x.exponent, y.exponent)};
}

Bool is_nan_bits(U32 magnitude) { return magnitude > kInfinity; }

// A positive divisor and dividend in whose place nothing goes wrong, where the real ones are zero,
// infinite or NaN.
U32 or_one(Bool is_ordinary, U32 magnitude) {
  return select(is_ordinary, magnitude, magnitude.code->u32(0x3f800000u));
}

}  // namespace

F32 fmod(F32 a, F32 b) {
  Code& code = *a.code;
  const U32 x = bits_of(a) & ~kSign, y = bits_of(b) & ~kSign;
  const Bool is_invalid = (x >= kInfinity) | is_nan_bits(y) | (y == 0);
  const Bool is_itself = (y == kInfinity) | (x == 0);
  const Bool is_ordinary = !(is_invalid | is_itself);
  const Digits digits = divide(or_one(is_ordinary, x), or_one(is_ordinary, y));
  const U32 rest = select(is_itself, x, joined(digits.rest, digits.exponent));
  return float_of(select(is_invalid, code.u32(kNaN), rest | (bits_of(a) & kSign)));
}

F32 floor_divide(F32 a, F32 b) {
  Code& code = *a.code;
  const U32 x = bits_of(a) & ~kSign, y = bits_of(b) & ~kSign;
  const U32 sign = (bits_of(a) ^ bits_of(b)) & kSign;
  const Bool is_negative = sign != 0;
  // NaN, infinity, or a zero with its sign.
  const Bool is_quotient = (x >= kInfinity) | is_nan_bits(y) | (y == 0) | (x == 0);
  const Bool by_infinity = (y == kInfinity) & !is_quotient;
  const Bool is_ordinary = !(is_quotient | by_infinity);
  const Digits digits = divide(or_one(is_ordinary, x), or_one(is_ordinary, y));
  const Bool is_whole = (digits.rest == 0) & is_ordinary;
  const Wide more = zero_extended(to_u32(is_negative & !is_whole));
  const Wide whole = select(is_ordinary, digits.quotient, wide(code, 0)) + more;
  const F32 near = float_of_wide(whole, digits.is_above, false);
  // Times a power of two, which may overflow.
  const U32 exponent = min(digits.dropped, code.u32(254 - 127));
  const U32 rest = digits.dropped - exponent;
  const F32 scaled =
      near * float_of((exponent + 127) << 23) * float_of((min(rest, code.u32(127)) + 127) << 23);
  const U32 result = (bits_of(scaled) & ~kSign) | sign;
  return select(is_quotient, a / b, float_of(result));
}

F32 float_of_wide(Wide x, Bool is_above, bool to_odd) {
  Code& code = *x.low.code;
  const U32 zero = code.u32(0), one = code.u32(1);
  const Bool is_long = x.high != 0;
  const U32 top = select(is_long, highest_bit(max(x.high, one)) + 32, highest_bit(max(x.low, one)));
  // The highest bit moves to bit 63: the mantissa is the first 24, and the rest says how to round.
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
