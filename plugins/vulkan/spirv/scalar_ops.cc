#include "plugins/vulkan/spirv/scalar_ops.h"

#include "plugins/vulkan/spirv/expansion.h"

namespace tenon_vulkan::spirv {

// Returns the result of an elementwise op; its dtype is `result`.
Element scalar_op(uint32_t op, std::span<const Element> inputs, tenon_dtype result) {
  if (has_expansion(op) && is_float(inputs[0].dtype())) return emit_expansion(op, inputs);
  switch (op) {
    case TENON_OP_cast:
      return cast(inputs[0], result);
    case TENON_OP_where:
      return select(inputs[0].boolean(), inputs[1], inputs[2]);
    case TENON_OP_clip:
      return clip(inputs[0], inputs[1], inputs[2]);
    case TENON_OP_fma:
      return fma(inputs[0], inputs[1], inputs[2]);
    case TENON_OP_nextafter:
      return next_after(inputs[0], inputs[1]);
    case TENON_OP_equal:
    case TENON_OP_not_equal:
    case TENON_OP_less:
    case TENON_OP_less_equal:
    case TENON_OP_greater:
    case TENON_OP_greater_equal:
      return Element(compare(op, inputs[0], inputs[1]));
    case TENON_OP_bitwise_and:
    case TENON_OP_bitwise_or:
    case TENON_OP_bitwise_xor:
    case TENON_OP_shift_left:
    case TENON_OP_shift_right:
    case TENON_OP_logical_and:
    case TENON_OP_logical_or:
    case TENON_OP_logical_xor:
      return bitwise(op, inputs[0], inputs[1]);
    default:
      return inputs.size() == 1 ? unary(op, inputs[0]) : arithmetic(op, inputs[0], inputs[1]);
  }
}

Element select(Bool condition, const Element& a, const Element& b) {
  switch (a.kind()) {
    case Kind::kBool:
      return Element(select(condition, a.boolean(), b.boolean()));
    case Kind::kWord:
      return {a.dtype(), select(condition, a.word(), b.word())};
    case Kind::kWide:
      return {a.dtype(), select(condition, a.wide(), b.wide())};
    case Kind::kF32:
      return {a.dtype(), select(condition, a.f32(), b.f32())};
    case Kind::kF64:
      return Element(select(condition, a.f64(), b.f64()));
  }
  return {};
}

namespace {

// Maps a float to a signed integer with the same order. Both zeros are mapped to 0.
U32 ordered_int(F32 x) {
  const U32 bits = bits_of(x);
  const U32 ordered = bits ^ (signed_shift_right(bits, 31) & 0x7fffffffu);
  return select(bits == 0x80000000u, bits.code->u32(0), ordered);
}

// Compares floats as integers, because a driver may treat subnormal numbers as zeros in
// comparisons.
Bool compare_by_bits(uint32_t op, const Element& a, const Element& b) {
  const U32 x = ordered_int(a.f32()), y = ordered_int(b.f32());
  const Bool holds = op == TENON_OP_equal  ? x == y
                     : op == TENON_OP_less ? signed_less(x, y)
                                           : !signed_less(y, x);
  return holds & (!(is_nan(a) | is_nan(b)));
}

}  // namespace

Bool compare(uint32_t op, const Element& a, const Element& b) {
  switch (op) {
    case TENON_OP_not_equal:
      return !compare(TENON_OP_equal, a, b);
    case TENON_OP_greater:
      return compare(TENON_OP_less, b, a);
    case TENON_OP_greater_equal:
      return compare(TENON_OP_less_equal, b, a);
    default:
      break;
  }
  const bool is_signed = is_signed_int(a.dtype());
  const auto less_of_words = [&](U32 x, U32 y) { return is_signed ? signed_less(x, y) : x < y; };
  const auto less_of_wides = [&](Wide x, Wide y) { return is_signed ? signed_less(x, y) : x < y; };
  switch (a.kind()) {
    case Kind::kBool:
      return !(a.boolean() != b.boolean());
    case Kind::kWord:
      if (op == TENON_OP_equal) return a.word() == b.word();
      return op == TENON_OP_less ? less_of_words(a.word(), b.word())
                                 : !less_of_words(b.word(), a.word());
    case Kind::kWide:
      if (op == TENON_OP_equal) return a.wide() == b.wide();
      return op == TENON_OP_less ? less_of_wides(a.wide(), b.wide())
                                 : !less_of_wides(b.wide(), a.wide());
    case Kind::kF32:
      return compare_by_bits(op, a, b);
    case Kind::kF64:
      if (op == TENON_OP_equal) return a.f64() == b.f64();
      return op == TENON_OP_less ? a.f64() < b.f64() : a.f64() <= b.f64();
  }
  return {};
}

namespace {

// Returns product + c. With `to_odd`, the sum is rounded to odd.
F32 sum_of(F32 product, F32 c, bool to_odd) {
  const F32 sum = product + c;
  if (!to_odd) return sum;
  // The exact rounding error of the addition; NaN if the sum is not finite.
  const F32 part = sum - product;
  const F32 lost = (product - (sum - part)) + (c - part);
  const F32 zero = sum.code->f32(0);
  const U32 bits = bits_of(sum);
  const Bool is_outwards = !((lost > zero) != (sum > zero));
  const Bool is_kept = ((bits & 1) != 0) | !((lost < zero) | (lost > zero));
  return float_of(select(is_kept, bits, select(is_outwards, bits + 1, bits - 1)));
}

// Returns a * b rounded towards zero. Requires that neither the product nor the partial products
// are subnormal.
F32 truncated_product(F32 a, F32 b) {
  const auto upper = [](F32 x) { return float_of(bits_of(x) & 0xfffff000u); };
  const F32 product = a * b, a0 = upper(a), b0 = upper(b), a1 = a - a0, b1 = b - b0;
  const F32 rest = ((a0 * b0 - product) + a0 * b1 + a1 * b0) + a1 * b1;
  const F32 zero = a.code->f32(0);
  const Bool is_beyond = select(product < zero, rest, zero - rest) > zero;
  return float_of(bits_of(product) - to_u32(is_beyond));
}

// Whether |x| is less than the positive `limit`.
Bool is_magnitude_below(F32 x, F32 limit) { return (bits_of(x) & 0x7fffffffu) < bits_of(limit); }

}  // namespace

// a * b + c. For half types the product is exact in float32 and the sum is rounded to odd, so that
// the final conversion gives the correctly rounded result. For wider types, product and sum are
// rounded separately.
Element fma(const Element& a, const Element& b, const Element& c) {
  if (a.kind() == Kind::kF64) return Element(a.f64() * b.f64() + c.f64());
  Code& code = a.code();
  const F32 x = flush_subnormals(a.f32()), y = flush_subnormals(b.f32()),
            z = flush_subnormals(c.f32());
  const F32 product = x * y;
  const bool is_half = a.dtype() != TENON_FLOAT32;
  F32 sum = sum_of(product, z, is_half);
  if (code.may_flush_subnormals()) {
    // The device flushes a subnormal product, but the exact product may affect the sum. Therefore
    // the operands are scaled up. The product is truncated, so the sum is between c and the exact
    // result. A subnormal sum is flushed to zero instead of being rounded a second time.
    const F32 least = code.f32(0x1p-126f), up = code.f32(0x1p90f), down = code.f32(0x1p-90f);
    const Bool is_small = is_magnitude_below(product, least) &
                          is_magnitude_below(x, code.f32(0x1p30f)) &
                          is_magnitude_below(z, code.f32(0x1p-40f));
    const F32 far = sum_of(truncated_product(x * up, y), z * up, is_half);
    const F32 zero = float_of(bits_of(far) & 0x80000000u);
    sum = select(is_small, select(is_magnitude_below(far, least * up), zero, far * down), sum);
  }
  return {a.dtype(), round_to_dtype(a.dtype(), sum)};
}

// Applies the lower bound first, then the upper one. The result is NaN if any operand is NaN.
Element clip(const Element& x, const Element& low, const Element& high) {
  const Bool is_below = compare(TENON_OP_less, x, low);
  const bool has_nan = is_float(x.dtype());
  const Element above = select(has_nan ? is_nan(low) | is_below : is_below, low, x);
  const Bool is_above = compare(TENON_OP_less, high, above);
  const Element within = select(has_nan ? is_nan(high) | is_above : is_above, high, above);
  return has_nan ? select(is_nan(x), x, within) : within;
}

// Returns a small integer as an element of any dtype.
Element constant(Code& code, tenon_dtype dtype, int value) {
  switch (kind_of(dtype)) {
    case Kind::kBool:
      return Element(code.boolean(value != 0));
    case Kind::kWord:
      return {dtype, code.u32(static_cast<uint32_t>(value))};
    case Kind::kWide:
      return {dtype, wide(code, static_cast<uint64_t>(int64_t{value}))};
    case Kind::kF32:
      return {dtype, code.f32(static_cast<float>(value))};
    case Kind::kF64:
      return Element(code.f64(value));
  }
  return {};
}

}  // namespace tenon_vulkan::spirv
