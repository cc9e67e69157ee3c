// 64-bit integers as pairs of words, for devices without 64-bit integers.

#pragma once

#include "plugins/vulkan/spirv/code.h"

namespace tenon_vulkan::spirv {

struct Wide {
  U32 low, high;
};

// Returns a 64-bit constant.
inline Wide wide(Code& code, uint64_t value) {
  return {code.u32(static_cast<uint32_t>(value)), code.u32(static_cast<uint32_t>(value >> 32))};
}
// Extend a word to 64 bits, with zeros or with copies of its sign bit.
inline Wide zero_extended(U32 word) { return {word, word.code->u32(0)}; }
inline Wide sign_extended(U32 word) { return {word, signed_shift_right(word, 31)}; }

inline Wide operator&(Wide a, Wide b) { return {a.low & b.low, a.high & b.high}; }
inline Wide operator|(Wide a, Wide b) { return {a.low | b.low, a.high | b.high}; }
inline Wide operator^(Wide a, Wide b) { return {a.low ^ b.low, a.high ^ b.high}; }
inline Wide operator~(Wide a) { return {~a.low, ~a.high}; }
inline Bool operator==(Wide a, Wide b) { return (a.low == b.low) & (a.high == b.high); }
inline Bool operator!=(Wide a, Wide b) { return !(a == b); }
inline Bool is_zero(Wide a) { return (a.low | a.high) == 0; }
inline Bool is_negative(Wide a) { return signed_less(a.high, 0); }
// Compares unsigned integers.
inline Bool operator<(Wide a, Wide b) {
  return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
}
inline Bool signed_less(Wide a, Wide b) {
  return signed_less(a.high, b.high) | ((a.high == b.high) & (a.low < b.low));
}
inline Wide select(Bool condition, Wide a, Wide b) {
  return {select(condition, a.low, b.low), select(condition, a.high, b.high)};
}

inline Wide operator+(Wide a, Wide b) {
  const auto [low, carry] = a.low.code->add_carry(a.low, b.low);
  return {low, a.high + b.high + carry};
}
inline Wide operator-(Wide a, Wide b) {
  const auto [low, borrow] = a.low.code->sub_borrow(a.low, b.low);
  return {low, a.high - b.high - borrow};
}
inline Wide operator-(Wide a) { return wide(*a.low.code, 0) - a; }
// Returns the absolute value of a signed integer.
inline Wide magnitude(Wide a) { return select(is_negative(a), -a, a); }
inline Wide operator*(Wide a, Wide b) {
  const auto [low, high] = a.low.code->multiply_wide(a.low, b.low);
  return {low, high + a.low * b.high + a.high * b.low};
}

// Shifts a 64-bit integer by less than 64 bits. SPIR-V defines shifts of words for less than 32
// bits only.
inline Wide operator<<(Wide a, U32 by) {
  const U32 within = by & 31, rest = (by ^ 31) & 31;
  const U32 low = a.low << within;
  const U32 high = (a.high << within) | ((a.low >> 1 >> rest));
  const Bool is_far = by >= 32;
  return {select(is_far, by.code->u32(0), low), select(is_far, low, high)};
}
inline Wide shift_right(Wide a, U32 by, bool is_signed) {
  const U32 within = by & 31, rest = (by ^ 31) & 31;
  const U32 high = is_signed ? signed_shift_right(a.high, within) : a.high >> within;
  const U32 low = (a.low >> within) | (a.high << 1 << rest);
  const U32 filled = is_signed ? signed_shift_right(a.high, 31) : by.code->u32(0);
  const Bool is_far = by >= 32;
  return {select(is_far, high, low), select(is_far, filled, high)};
}

// Convert between a double and its bits.
inline Wide bits_of(F64 x) {
  const auto [low, high] = x.code->words_of(x);
  return {low, high};
}
inline F64 float_of(Wide bits) { return bits.low.code->as_f64(bits.low, bits.high); }

// ---- helpers for both integer widths

// Return the code to which a value belongs.
inline Code& code_of(U32 a) { return *a.code; }
inline Code& code_of(Wide a) { return *a.low.code; }
inline Bool is_zero(U32 a) { return a == 0; }
inline Bool is_negative(U32 a) { return signed_less(a, 0); }
inline Bool is_odd(U32 a) { return (a & 1) != 0; }
inline Bool is_odd(Wide a) { return is_odd(a.low); }
// Shifts by less than 32 bits. If `is_signed`, copies the sign bit.
inline U32 shift_right(U32 a, U32 by, bool is_signed) {
  return is_signed ? signed_shift_right(a, by) : a >> by;
}

// Returns a constant of type U32 or Wide.
template <class Int>
Int number(Code& code, int64_t value);
template <>
inline U32 number<U32>(Code& code, int64_t value) {
  return code.u32(static_cast<uint32_t>(value));
}
template <>
inline Wide number<Wide>(Code& code, int64_t value) {
  return wide(code, static_cast<uint64_t>(value));
}

// A mutable integer variable.
template <class Int>
class IntVar;

template <>
class IntVar<U32> : public Var<U32> {
 public:
  explicit IntVar(U32 initial) : Var(initial.code->var(initial)) {}
};

template <>
class IntVar<Wide> {
 public:
  explicit IntVar(Wide initial) : low_(initial.low), high_(initial.high) {}
  Wide get() const { return {low_.get(), high_.get()}; }
  void set(Wide value) const {
    low_.set(value.low);
    high_.set(value.high);
  }

 private:
  IntVar<U32> low_, high_;
};

template <class Int>
struct Divided {
  Int quotient, rest;
};
// Unsigned division, bit by bit; the divisor must not be zero.
Divided<Wide> divide(Wide a, Wide b);

}  // namespace tenon_vulkan::spirv
