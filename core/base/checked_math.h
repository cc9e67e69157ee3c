// Integer arithmetic for values from files and callers. Overflow and division by zero are errors
// instead of undefined behaviour. Size (size.h) uses these functions.

#pragma once

#include <cstdint>
#include <limits>

namespace tenon::checked_math {

// Throws OUT_OF_RANGE with the operation and its operands.
[[noreturn]] void fail(const char* operation, int64_t a, int64_t b);

inline int64_t add(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result)) [[unlikely]]
    fail("+", a, b);
  return result;
}
inline int64_t sub(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_sub_overflow(a, b, &result)) [[unlikely]]
    fail("-", a, b);
  return result;
}
inline int64_t mul(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) [[unlikely]]
    fail("*", a, b);
  return result;
}
// Rounds towards zero.
inline int64_t div(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) [[unlikely]]
    fail("/", a, b);
  return a / b;
}
inline int64_t mod(int64_t a, int64_t b) {
  if (b == 0) [[unlikely]]
    fail("%", a, b);
  return b == -1 ? 0 : a % b;
}

}  // namespace tenon::checked_math
