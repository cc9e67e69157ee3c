// Wrapping integer arithmetic, and the bitwise and logical ops.

#include "plugins/simd/kernels/loops.h"

namespace tenon_simd {
namespace {

using tenon_sdk::Ints;

// Truncating division. Division by zero gives 0. The only quotient that overflows, minimum / -1,
// wraps.
template <class T>
T divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(0 - static_cast<uint64_t>(a));
  }
  return static_cast<T>(a / b);
}

// The remainder of truncating division. Division by zero gives 0.
template <class T>
T remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

// Whether the exact quotient is negative and not an integer, so that floor and truncation differ.
template <class T>
bool floor_differs_from_truncation(T a, T b) {
  return remainder(a, b) != 0 && (a < 0) != (b < 0);
}

// pow. Negative exponents give 0, except for the bases 1 and -1.
template <class T>
T power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == -1) return exponent % 2 == 0 ? 1 : -1;
      return 0;
    }
  }
  uint64_t result = 1;
  uint64_t square = static_cast<uint64_t>(base);
  for (uint64_t rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

// Whether a shift count is at least the bit width. A negative count is treated as such.
template <class T>
bool is_shift_out_of_range(T distance) {
  return static_cast<std::make_unsigned_t<T>>(distance) >= 8 * sizeof(T);
}

// Converts to an unsigned type in which the following operation wraps. It is no wider than
// necessary, so that vectors hold as many elements as possible.
template <class T>
auto to_wrapping(T x) {
  return static_cast<std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>>(x);
}

// Returns the spans of ops whose result bits are the same for signed and unsigned integers. T is
// unsigned.
template <class T>
Span unsigned_binary_span(uint32_t op) {
  switch (op) {
    case TENON_OP_add:
      return binary_loop<T, T>([](T a, T b) { return to_wrapping(a) + to_wrapping(b); });
    case TENON_OP_sub:
      return binary_loop<T, T>([](T a, T b) { return to_wrapping(a) - to_wrapping(b); });
    case TENON_OP_mul:
      return binary_loop<T, T>([](T a, T b) { return to_wrapping(a) * to_wrapping(b); });
    case TENON_OP_bitwise_and:
      return binary_loop<T, T>([](T a, T b) { return a & b; });
    case TENON_OP_bitwise_or:
      return binary_loop<T, T>([](T a, T b) { return a | b; });
    case TENON_OP_bitwise_xor:
      return binary_loop<T, T>([](T a, T b) { return a ^ b; });
    case TENON_OP_shift_left:
      return binary_loop<T, T>(
          [](T a, T b) { return is_shift_out_of_range(b) ? 0 : to_wrapping(a) << b; });
    default:
      return nullptr;
  }
}

// Returns the span of a binary op on integers of type T.
template <class T>
Span binary_span(uint32_t op) {
  switch (op) {
    case TENON_OP_div:
      return binary_loop<T, T>([](T a, T b) { return divide(a, b); });
    case TENON_OP_floor_div:
      return binary_loop<T, T>([](T a, T b) {
        return to_wrapping(divide(a, b)) - (floor_differs_from_truncation(a, b) ? 1 : 0);
      });
    case TENON_OP_mod:
      return binary_loop<T, T>([](T a, T b) {
        return to_wrapping(remainder(a, b)) +
               (floor_differs_from_truncation(a, b) ? to_wrapping(b) : 0);
      });
    case TENON_OP_fmod:
      return binary_loop<T, T>([](T a, T b) { return remainder(a, b); });
    case TENON_OP_pow:
      return binary_loop<T, T>([](T a, T b) { return power(a, b); });
    case TENON_OP_maximum:
      return binary_loop<T, T>([](T a, T b) { return a < b ? b : a; });
    case TENON_OP_minimum:
      return binary_loop<T, T>([](T a, T b) { return b < a ? b : a; });
    case TENON_OP_shift_right:
      return binary_loop<T, T>([](T a, T b) {
        return static_cast<T>(is_shift_out_of_range(b) ? (a < 0 ? -1 : 0) : a >> b);
      });
    default:
      return nullptr;
  }
}

// Returns the spans of unary ops whose result bits are the same for signed and unsigned integers. T
// is unsigned.
template <class T>
Span unsigned_unary_span(uint32_t op) {
  switch (op) {
    case TENON_OP_neg:
      return unary_loop<T, T>([](T x) { return 0 - to_wrapping(x); });
    case TENON_OP_square:
      return unary_loop<T, T>([](T x) { return to_wrapping(x) * to_wrapping(x); });
    case TENON_OP_bitwise_not:
      return unary_loop<T, T>([](T x) { return ~x; });
    default:
      return nullptr;
  }
}

// Returns the span of a unary op on integers of type T.
template <class T>
Span unary_span(uint32_t op) {
  switch (op) {
    case TENON_OP_abs:
      return unary_loop<T, T>([](T x) { return x < 0 ? 0 - to_wrapping(x) : to_wrapping(x); });
    case TENON_OP_sign:
      return unary_loop<T, T>([](T x) { return (x > 0) - (x < 0); });
    case TENON_OP_relu:
      return unary_loop<T, T>([](T x) { return x > 0 ? x : T{0}; });
    default:
      return nullptr;
  }
}

// Returns the span of a logical or bitwise op on bools.
Span logical_span(uint32_t op) {
  switch (op) {
    case TENON_OP_logical_not:
    case TENON_OP_bitwise_not:
      return unary_loop<Bool, Bool>([](Bool x) { return !x; });
    case TENON_OP_logical_and:
    case TENON_OP_bitwise_and:
      return binary_loop<Bool, Bool>([](Bool a, Bool b) { return a & b; });
    case TENON_OP_logical_or:
    case TENON_OP_bitwise_or:
      return binary_loop<Bool, Bool>([](Bool a, Bool b) { return a | b; });
    case TENON_OP_logical_xor:
    case TENON_OP_bitwise_xor:
      return binary_loop<Bool, Bool>([](Bool a, Bool b) { return a != b; });
    default:
      return nullptr;
  }
}

}  // namespace

Prepared prepare_int_binary(const Request& request) {
  const Span span = dispatch<Ints>(request.input(0).dtype, [&]<class T>(Type<T>) {
    const Span wrapping = unsigned_binary_span<std::make_unsigned_t<T>>(request.op());
    return wrapping != nullptr ? wrapping : binary_span<T>(request.op());
  });
  return kernel_of(request, span);
}

Prepared prepare_int_unary(const Request& request) {
  const Span span = dispatch<Ints>(request.input(0).dtype, [&]<class T>(Type<T>) {
    const Span wrapping = unsigned_unary_span<std::make_unsigned_t<T>>(request.op());
    return wrapping != nullptr ? wrapping : unary_span<T>(request.op());
  });
  return kernel_of(request, span);
}

Prepared prepare_logical(const Request& request) {
  return kernel_of(request, logical_span(request.op()));
}

Prepared prepare_int_clip(const Request& request) {
  const Span span = dispatch<Ints>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return ternary_loop<T, T, T, T>([](T x, T low, T high) {
      const T above = x < low ? low : x;
      return high < above ? high : above;
    });
  });
  return kernel_of(request, span);
}

}  // namespace tenon_simd
