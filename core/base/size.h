// The size of an axis: a number or, while a function is traced, a formula of sizes that are unknown
// until the function is called.
//
// Formulas support the same arithmetic as numbers. A comparison of formulas is decided by known
// facts if possible. Otherwise the sizes of the traced call decide, and a guard restricts the trace
// to calls with the same outcome (size_table.h). Converting a formula to int64_t adds a guard that
// restricts the trace to that one size.

#pragma once

#include <concepts>
#include <cstdint>

#include "core/base/checked_math.h"

namespace tenon {

class Size;

// A comparison of two sizes that is not evaluated yet. `if` evaluates it. require() makes it true.
struct SizeTest {
  enum class Kind : uint8_t { kEqual, kNotEqual, kLess, kLessEqual };

  inline operator bool() const;
  // Makes the comparison true, by a guard if necessary. Returns false if it cannot be true.
  inline bool hold() const;

  Kind kind;
  int64_t a, b;  // The words of the two sizes.
};

class Size {
 public:
  Size() = default;  // NOLINT: uninitialised, like an int64_t.
  template <std::integral T>
  constexpr Size(T number) : word_(static_cast<int64_t>(number)) {}

  // Words in a reserved range represent the formulas of the current trace. All other words are
  // numbers. No size and no bound of a size is near the reserved range.
  static constexpr int64_t kFirstFormula = -(int64_t{3} << 61);
  // Returns the formula with this index in the current SizeTable.
  static constexpr Size formula(uint32_t id) { return Size(kFirstFormula + int64_t{id}); }
  // Converts the result of word() back to a size.
  static constexpr Size from_word(int64_t word) { return Size(word); }
  // Converts a number from a caller or a file. Fails if the number is so close to the reserved
  // range that adding sizes could produce a reserved word.
  static Size number(int64_t value) {
    constexpr int64_t kMargin = int64_t{1} << 60;
    if (value > kFirstFormula - kMargin && value < kFirstFormula + kMargin) [[unlikely]]
      fail_number(value);
    return value;
  }

  // Whether the size is a number, not a formula.
  constexpr bool known() const {
    const uint64_t place = static_cast<uint64_t>(word_) - static_cast<uint64_t>(kFirstFormula);
    return place >> 32 != 0;
  }
  constexpr int64_t word() const { return word_; }
  // Index of a formula in the current SizeTable.
  constexpr uint32_t id() const { return static_cast<uint32_t>(word_ - kFirstFormula); }
  operator int64_t() const {
    if (known()) [[likely]]
      return word_;
    return pin_to_number();
  }

 private:
  [[noreturn]] static void fail_number(int64_t value);
  // Returns the number of a formula in the traced call, and restricts the trace to it by a guard.
  int64_t pin_to_number() const;

  int64_t word_;
};

namespace detail {

enum class SizeOp : uint8_t { kAdd, kSub, kMul, kDiv, kMod, kMin, kMax };
// These functions implement Size and SizeTest if an operand is a formula (size_table.cc): they
// compute `a op b`, decide a test, and make a test true (see SizeTest::hold).
Size size_formula(SizeOp op, Size a, Size b);
bool decide_size_test(const SizeTest& test);
bool hold_size_test(const SizeTest& test);

}  // namespace detail

// Operators for two sizes, and for a size and a number in either order.
#define TENON_SIZE_MIXED(result, name) \
  template <std::integral T>           \
  inline result name(Size a, T b) {    \
    return name(a, Size(b));           \
  }                                    \
  template <std::integral T>           \
  inline result name(T a, Size b) {    \
    return name(Size(a), b);           \
  }
#define TENON_SIZE_ARITHMETIC(sign, op, checked_op)        \
  inline Size operator sign(Size a, Size b) {              \
    if (a.known() && b.known()) [[likely]]                 \
      return checked_math::checked_op(a.word(), b.word()); \
    return detail::size_formula(detail::SizeOp::op, a, b); \
  }                                                        \
  TENON_SIZE_MIXED(Size, operator sign)                    \
  inline Size& operator sign##=(Size& a, Size b) { return a = a sign b; }
TENON_SIZE_ARITHMETIC(+, kAdd, add)
TENON_SIZE_ARITHMETIC(-, kSub, sub)
TENON_SIZE_ARITHMETIC(*, kMul, mul)
TENON_SIZE_ARITHMETIC(/, kDiv, div)  // Rounds towards zero.
TENON_SIZE_ARITHMETIC(%, kMod, mod)

#define TENON_SIZE_COMPARISON(sign, kind, first, second)        \
  inline SizeTest operator sign(Size a, Size b) {               \
    return {SizeTest::Kind::kind, first.word(), second.word()}; \
  }                                                             \
  TENON_SIZE_MIXED(SizeTest, operator sign)
TENON_SIZE_COMPARISON(==, kEqual, a, b)
TENON_SIZE_COMPARISON(!=, kNotEqual, a, b)
TENON_SIZE_COMPARISON(<, kLess, a, b)
TENON_SIZE_COMPARISON(<=, kLessEqual, a, b)
TENON_SIZE_COMPARISON(>, kLess, b, a)
TENON_SIZE_COMPARISON(>=, kLessEqual, b, a)

#undef TENON_SIZE_COMPARISON
#undef TENON_SIZE_ARITHMETIC
#undef TENON_SIZE_MIXED

inline Size operator-(Size a) { return 0 - a; }
inline Size& operator++(Size& a) { return a += 1; }

// Returns the smaller of two sizes.
inline Size least(Size a, Size b) {
  if (a.known() && b.known()) [[likely]]
    return a.word() < b.word() ? a : b;
  return detail::size_formula(detail::SizeOp::kMin, a, b);
}
// Returns the larger of two sizes.
inline Size greatest(Size a, Size b) {
  if (a.known() && b.known()) [[likely]]
    return a.word() < b.word() ? b : a;
  return detail::size_formula(detail::SizeOp::kMax, a, b);
}

bool SizeTest::hold() const {
  const bool numbers = Size::from_word(a).known() && Size::from_word(b).known();
  return numbers ? bool(*this) : detail::hold_size_test(*this);
}

SizeTest::operator bool() const {
  if (!Size::from_word(a).known() || !Size::from_word(b).known()) [[unlikely]]
    return detail::decide_size_test(*this);
  switch (kind) {
    case Kind::kEqual:
      return a == b;
    case Kind::kNotEqual:
      return a != b;
    case Kind::kLess:
      return a < b;
    default:
      return a <= b;
  }
}

// Whether both are the same number or the same formula. Does not add a guard.
constexpr bool identical(Size a, Size b) { return a.word() == b.word(); }

}  // namespace tenon
