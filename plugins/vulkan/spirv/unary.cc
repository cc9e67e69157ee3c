// Unary ops without expansions, and next_after().

#include "plugins/vulkan/spirv/scalar_ops.h"

namespace tenon_vulkan::spirv {
namespace {

constexpr uint32_t kSign = 0x80000000u;

// Returns the word of a float that contains its sign and exponent: the upper word of a double.
U32 upper_bits(const Element& x) {
  return x.kind() == Kind::kF64 ? x.code().words_of(x.f64()).second : bits_of(x.f32());
}
// Returns the upper_bits() of positive infinity in the dtype of `x`.
uint32_t infinity_of(const Element& x) {
  return x.kind() == Kind::kF64 ? 0x7ff00000u : 0x7f800000u;
}

// Returns the float `x`, with its upper word replaced by `upper`.
Element replace_upper_bits(const Element& x, U32 upper) {
  if (x.kind() != Kind::kF64) return {x.dtype(), float_of(upper)};
  return Element(x.code().as_f64(x.code().words_of(x.f64()).first, upper));
}

Bool is_infinite(const Element& x) {
  const U32 magnitude = upper_bits(x) & ~kSign;
  const Bool is_it = magnitude == infinity_of(x);
  if (x.kind() != Kind::kF64) return is_it;
  return is_it & (x.code().words_of(x.f64()).first == 0);
}

// Returns the result of the op `sign` for a float.
Element sign_of_float(const Element& x) {
  const Element zero = constant(x.code(), x.dtype(), 0), one = constant(x.code(), x.dtype(), 1);
  const Element with_sign = replace_upper_bits(one, upper_bits(one) | (upper_bits(x) & kSign));
  const Bool is_itself = is_nan(x) | compare(TENON_OP_equal, x, zero);
  return select(is_itself, x, with_sign);
}

// Applies a function of GLSL.std.450 and rounds the result to the dtype.
Element glsl(GLSLstd450 function, const Element& x) {
  if (x.kind() == Kind::kF64) return Element(x.code().glsl<F64>(function, {x.f64().id}));
  const F32 result = x.code().glsl<F32>(function, {x.f32().id});
  return {x.dtype(), round_to_dtype(x.dtype(), result)};
}

// Returns the result of a unary op on a float.
Element float_unary(uint32_t op, const Element& x) {
  switch (op) {
    case TENON_OP_neg:
      return replace_upper_bits(x, upper_bits(x) ^ kSign);
    case TENON_OP_abs:
      return replace_upper_bits(x, upper_bits(x) & ~kSign);
    case TENON_OP_sign:
      return sign_of_float(x);
    case TENON_OP_isnan:
      return Element(is_nan(x));
    case TENON_OP_isinf:
      return Element(is_infinite(x));
    case TENON_OP_reciprocal:
      return arithmetic(TENON_OP_div, constant(x.code(), x.dtype(), 1), x);
    case TENON_OP_sqrt:
      return glsl(GLSLstd450Sqrt, x);
    case TENON_OP_floor:
      return glsl(GLSLstd450Floor, x);
    case TENON_OP_ceil:
      return glsl(GLSLstd450Ceil, x);
    case TENON_OP_round:  // Ties to even.
      return glsl(GLSLstd450RoundEven, x);
    default:
      return glsl(GLSLstd450Trunc, x);
  }
}

// Returns the result of a unary op on an integer of at most 32 bits.
Element word_unary(uint32_t op, const Element& x) {
  const U32 word = x.word();
  const bool is_signed = is_signed_int(x.dtype());
  switch (op) {
    case TENON_OP_neg:
      return {x.dtype(), wrap_to_dtype(x.dtype(), -word)};
    case TENON_OP_abs:
      if (!is_signed) return x;
      return {x.dtype(), wrap_to_dtype(x.dtype(), select(signed_less(word, 0), -word, word))};
    case TENON_OP_sign: {
      const U32 positive = select(word == 0, 0u, 1u);
      if (!is_signed) return {x.dtype(), positive};
      return {x.dtype(), select(signed_less(word, 0), x.code().u32(~0u), positive)};
    }
    default:
      return {x.dtype(), wrap_to_dtype(x.dtype(), ~word)};
  }
}

// Returns the result of a unary op on a 64-bit integer.
Element wide_unary(uint32_t op, const Element& x) {
  const Wide y = x.wide();
  const bool is_signed = is_signed_int(x.dtype());
  switch (op) {
    case TENON_OP_neg:
      return {x.dtype(), -y};
    case TENON_OP_abs:
      return is_signed ? Element(x.dtype(), magnitude(y)) : x;
    case TENON_OP_sign: {
      const Wide positive = select(is_zero(y), wide(x.code(), 0), wide(x.code(), 1));
      if (!is_signed) return {x.dtype(), positive};
      return {x.dtype(), select(is_negative(y), wide(x.code(), ~uint64_t{0}), positive)};
    }
    default:
      return {x.dtype(), ~y};
  }
}

}  // namespace

// Compares bits, because drivers may treat NaN differently.
Bool is_nan(const Element& x) {
  const U32 magnitude = upper_bits(x) & ~kSign;
  const Bool is_above = magnitude > infinity_of(x);
  if (x.kind() != Kind::kF64) return is_above;
  return is_above | ((magnitude == infinity_of(x)) & (x.code().words_of(x.f64()).first != 0));
}

// Returns the result of a unary op that has no expansion.
Element unary(uint32_t op, const Element& x) {
  switch (x.kind()) {
    case Kind::kBool:  // logical_not and bitwise_not.
      return Element(!x.boolean());
    case Kind::kWord:
      return word_unary(op, x);
    case Kind::kWide:
      return wide_unary(op, x);
    default:
      return float_unary(op, x);
  }
}

// nextafter. Without the sign bit, the bits of floats have the same order as their magnitudes.
Element next_after(const Element& a, const Element& b) {
  Code& code = a.code();
  const Bits x = bits_of(a), y = bits_of(b);
  const tenon_dtype dtype = a.dtype();
  const bool is_half = tenon_sdk::size_of(dtype) == 2;
  const Wide from = {x.low, x.high};
  const uint64_t sign = is_half                  ? uint64_t{1} << 15
                        : dtype == TENON_FLOAT64 ? uint64_t{1} << 63
                                                 : uint64_t{1} << 31;
  const Wide sign_bit = wide(code, sign);
  const Bool is_positive = is_zero(from & sign_bit);
  const Bool is_from_zero = is_zero(from & ~sign_bit);
  const Bool is_up = compare(TENON_OP_less, a, b);
  const Bool is_outwards = !(is_up != is_positive);
  const Wide step = select(is_outwards, wide(code, 1), wide(code, ~uint64_t{0}));
  // The successor of zero is the smallest subnormal number with the sign of `b`.
  const Wide least = wide(code, 1) | ((Wide{y.low, y.high}) & sign_bit);
  const Wide next = select(is_from_zero, least, from + step);
  const Element result = element_of(dtype, {next.low, next.high});
  const Bool is_there = compare(TENON_OP_equal, a, b);
  return select(is_nan(a), a, select(is_nan(b) | is_there, b, result));
}

}  // namespace tenon_vulkan::spirv
