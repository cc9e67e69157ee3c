// The value type for single numbers: the simplest implementation of V in value.h, used by tests. A
// policy computes division and square root, and is notified of every instruction.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tenon::expansions {

// Uses the processor's division and square root, and counts nothing.
struct PlainPolicy {
  // Does nothing: this policy does not count instructions.
  static void count() {}
  template <class T>
  static T divide(T a, T b) {
    return a / b;
  }
  template <class T>
  static T square_root(T x) {
    return std::sqrt(x);
  }
};

// Reinterprets the bits of a value as another type of the same size.
template <class To, class From>
To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

template <class T, class Policy>
class ScalarValue;

template <class Policy>
struct ScalarBool {
  bool v;

  friend ScalarBool operator&(ScalarBool a, ScalarBool b) { return made(a.v && b.v); }
  friend ScalarBool operator|(ScalarBool a, ScalarBool b) { return made(a.v || b.v); }
  friend ScalarBool operator!(ScalarBool a) { return made(!a.v); }

  // Counts one instruction and returns its result v as a ScalarBool.
  static ScalarBool made(bool v) {
    Policy::count();
    return {v};
  }
};

// An integer with the width of T; Bits is its signed or unsigned type. Arithmetic uses the unsigned
// type, in which overflow wraps.
template <class T, class Bits, class Policy>
class ScalarInteger {
 public:
  using Bool = ScalarBool<Policy>;
  using Constant = std::conditional_t<std::is_signed_v<Bits>, int64_t, uint64_t>;
  using Wrapping = std::make_unsigned_t<Bits>;

  ScalarInteger(Constant v) : v_(static_cast<Bits>(v)) {}
  Bits value() const { return v_; }

  friend ScalarInteger operator+(ScalarInteger a, ScalarInteger b) { return made(a.w() + b.w()); }
  friend ScalarInteger operator-(ScalarInteger a, ScalarInteger b) { return made(a.w() - b.w()); }
  friend ScalarInteger operator*(ScalarInteger a, ScalarInteger b) { return made(a.w() * b.w()); }
  friend ScalarInteger operator&(ScalarInteger a, ScalarInteger b) { return made(a.w() & b.w()); }
  friend ScalarInteger operator|(ScalarInteger a, ScalarInteger b) { return made(a.w() | b.w()); }
  friend ScalarInteger operator^(ScalarInteger a, ScalarInteger b) { return made(a.w() ^ b.w()); }
  friend ScalarInteger operator<<(ScalarInteger a, int n) { return made(a.w() << n); }
  friend ScalarInteger operator>>(ScalarInteger a, int n) { return made(a.v_ >> n); }
  friend ScalarInteger operator<<(ScalarInteger a, ScalarInteger n) { return made(a.w() << n.v_); }
  friend ScalarInteger operator>>(ScalarInteger a, ScalarInteger n) { return made(a.v_ >> n.v_); }
  friend Bool operator!=(ScalarInteger a, ScalarInteger b) { return Bool::made(a.v_ != b.v_); }
  friend Bool operator<(ScalarInteger a, ScalarInteger b) { return Bool::made(a.v_ < b.v_); }

  friend ScalarInteger where(Bool c, ScalarInteger a, ScalarInteger b) {
    return made(c.v ? a.v_ : b.v_);
  }

  // Counts one instruction and returns its result v as a ScalarInteger.
  template <class Any>
  static ScalarInteger made(Any v) {
    Policy::count();
    return ScalarInteger(static_cast<Constant>(static_cast<Bits>(v)));
  }

 private:
  Wrapping w() const { return static_cast<Wrapping>(v_); }

  Bits v_;
};

template <class T, class Policy = PlainPolicy>
class ScalarValue {
 public:
  using Scalar = T;
  using Signed = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using Int = ScalarInteger<T, Signed, Policy>;
  using UInt = ScalarInteger<T, std::make_unsigned_t<Signed>, Policy>;
  using Bool = ScalarBool<Policy>;

  ScalarValue(double v) : v_(static_cast<T>(v)) {}
  T value() const { return v_; }

  friend ScalarValue operator+(ScalarValue a, ScalarValue b) { return made(a.v_ + b.v_); }
  friend ScalarValue operator-(ScalarValue a, ScalarValue b) { return made(a.v_ - b.v_); }
  friend ScalarValue operator*(ScalarValue a, ScalarValue b) { return made(a.v_ * b.v_); }
  friend ScalarValue operator/(ScalarValue a, ScalarValue b) {
    return made(Policy::divide(a.v_, b.v_));
  }
  friend ScalarValue operator-(ScalarValue a) { return made(-a.v_); }
  friend Bool operator==(ScalarValue a, ScalarValue b) { return Bool::made(a.v_ == b.v_); }
  friend Bool operator!=(ScalarValue a, ScalarValue b) { return Bool::made(a.v_ != b.v_); }
  friend Bool operator<(ScalarValue a, ScalarValue b) { return Bool::made(a.v_ < b.v_); }
  friend Bool operator<=(ScalarValue a, ScalarValue b) { return Bool::made(a.v_ <= b.v_); }
  friend Bool operator>(ScalarValue a, ScalarValue b) { return Bool::made(a.v_ > b.v_); }
  friend Bool operator>=(ScalarValue a, ScalarValue b) { return Bool::made(a.v_ >= b.v_); }

  friend ScalarValue abs(ScalarValue a) { return made(std::fabs(a.v_)); }
  friend ScalarValue sqrt(ScalarValue a) { return made(Policy::square_root(a.v_)); }
  friend ScalarValue where(Bool c, ScalarValue a, ScalarValue b) { return made(c.v ? a.v_ : b.v_); }

  // Reinterprets the bits of `a` as an integer.
  friend Int as_int(ScalarValue a) { return Int::made(same_bits<Signed>(a.v_)); }
  // Converts the value of `a` to an integer; returns 0 if it is out of range.
  friend Int to_int(ScalarValue a) {
    constexpr T kLimit = sizeof(T) == 4 ? T(0x1p31) : T(0x1p63);
    const bool in_range = a.v_ > -kLimit && a.v_ < kLimit;
    return Int::made(in_range ? static_cast<Signed>(a.v_) : 0);
  }

  // Rounds to nearest, ties to even, by adding and subtracting 2^23 or 2^52: all larger numbers are
  // integers. This is faster in the tests than a call of the C library.
  friend ScalarValue round(ScalarValue a) {
    constexpr T kAllWhole = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);
    const T magnitude = std::fabs(a.v_);
    if (!(magnitude < kAllWhole)) return made(a.v_);
    return made(std::copysign((magnitude + kAllWhole) - kAllWhole, a.v_));
  }

  // Counts one instruction and returns its result v as a ScalarValue.
  static ScalarValue made(T v) {
    Policy::count();
    ScalarValue value(0);
    value.v_ = v;
    return value;
  }

 private:
  T v_;
};

// Reinterprets the bits of an integer as a floating-point value.
template <class T, class Bits, class P>
ScalarValue<T, P> as_float(ScalarInteger<T, Bits, P> a) {
  return ScalarValue<T, P>::made(same_bits<T>(a.value()));
}

// Converts the value of an integer to floating point.
template <class T, class Bits, class P>
ScalarValue<T, P> to_float(ScalarInteger<T, Bits, P> a) {
  return ScalarValue<T, P>::made(static_cast<T>(a.value()));
}

// Reinterprets the bits of an integer as an unsigned one.
template <class T, class Bits, class P>
auto as_uint(ScalarInteger<T, Bits, P> a) {
  return ScalarInteger<T, std::make_unsigned_t<Bits>, P>::made(a.value());
}

// Reinterprets the bits of an integer as a signed one.
template <class T, class Bits, class P>
auto as_int(ScalarInteger<T, Bits, P> a) {
  return ScalarInteger<T, std::make_signed_t<Bits>, P>::made(a.value());
}

}  // namespace tenon::expansions
