// Functions of two elements of the same dtype. Both operands are broadcast to the shape of the
// output.

#include <cmath>
#include <cstring>
#include <limits>

#include "plugins/ref/elementwise.h"

namespace tenon_ref {
namespace {

using tenon_sdk::dispatch;

template <class W>
using Function = W (*)(W, W);

// ---- integers: W is int64_t or uint64_t; results wrap when they are converted to a narrower dtype

// Truncating division. Division by zero gives 0.
template <class W>
W divide(W a, W b) {
  if (b == 0) return 0;
  // The only quotient that overflows is INT64_MIN / -1. It wraps to INT64_MIN.
  if constexpr (std::is_signed_v<W>) {
    if (b == -1) return static_cast<W>(0 - static_cast<uint64_t>(a));
  }
  return a / b;
}

// The remainder of truncating division. Division by zero gives 0.
template <class W>
W remainder(W a, W b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<W>) {
    if (b == -1) return 0;
  }
  return a % b;
}

// Whether the exact quotient is negative and not an integer: floor division is then one less than
// truncating division.
template <class W>
bool floor_differs_from_truncation(W a, W b) {
  return remainder(a, b) != 0 && (a < 0) != (b < 0);
}

// pow of integers. A negative exponent gives 0, except for the bases 1 and -1, whose powers are
// integers.
template <class W>
W power(W base, W exponent) {
  if constexpr (std::is_signed_v<W>) {
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
  return static_cast<W>(result);
}

// Returns the function of an op on integers; NULL if the op has none.
template <class W>
Function<W> int_function(uint32_t op) {
  switch (op) {
    case TENON_OP_add:
      return [](W a, W b) {
        return static_cast<W>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      };
    case TENON_OP_sub:
      return [](W a, W b) {
        return static_cast<W>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
      };
    case TENON_OP_mul:
      return [](W a, W b) {
        return static_cast<W>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      };
    case TENON_OP_div:
      return [](W a, W b) { return divide(a, b); };
    case TENON_OP_floor_div:
      return [](W a, W b) {
        return static_cast<W>(divide(a, b) - (floor_differs_from_truncation(a, b) ? 1 : 0));
      };
    case TENON_OP_mod:
      return [](W a, W b) {
        return static_cast<W>(remainder(a, b) + (floor_differs_from_truncation(a, b) ? b : 0));
      };
    case TENON_OP_fmod:
      return [](W a, W b) { return remainder(a, b); };
    case TENON_OP_pow:
      return [](W a, W b) { return power(a, b); };
    case TENON_OP_maximum:
      return [](W a, W b) { return a < b ? b : a; };
    case TENON_OP_minimum:
      return [](W a, W b) { return b < a ? b : a; };
    case TENON_OP_bitwise_and:
      return [](W a, W b) { return a & b; };
    case TENON_OP_bitwise_or:
      return [](W a, W b) { return a | b; };
    case TENON_OP_bitwise_xor:
      return [](W a, W b) { return a ^ b; };
    // A negative shift count has the same effect as one that is at least the bit width.
    case TENON_OP_shift_left:
      return [](W a, W b) {
        const bool beyond = static_cast<uint64_t>(b) > 63;
        return static_cast<W>(beyond ? 0 : static_cast<uint64_t>(a) << b);
      };
    case TENON_OP_shift_right:
      return [](W a, W b) {
        const bool beyond = static_cast<uint64_t>(b) > 63;
        return static_cast<W>(beyond ? (a < 0 ? -1 : 0) : a >> b);
      };
    default:
      return nullptr;
  }
}

// ---- floats

// The remainder, with the sign of the divisor.
template <class W>
W floor_mod(W a, W b) {
  const W truncated = std::fmod(a, b);
  if (truncated == 0) return std::copysign(truncated, b);
  return (truncated < 0) != (b < 0) ? truncated + b : truncated;
}

// Returns the floor of the exact quotient. Rounding a / b to an integer gives a number that differs
// from the floor by at most 1, and the sign of the exact remainder determines the correction. If
// `a` is infinite, the result is NaN.
template <class W>
W floor_divide(W a, W b) {
  const W quotient = a / b;
  if (b != 0 && std::isinf(a)) return std::numeric_limits<double>::quiet_NaN();
  if (b == 0 || std::isnan(quotient) || std::isinf(quotient)) return quotient;
  W whole = std::nearbyint(quotient);
  const W rest = std::isinf(b) ? a : std::fma(-whole, b, a);
  if (rest != 0 && (rest < 0) != (b < 0)) {
    whole -= 1;
  } else if (std::fabs(rest) >= std::fabs(b)) {
    whole += 1;
  }
  return whole == 0 ? std::copysign(whole, quotient) : whole;
}

// Returns the function of an op on floats whose result is exact or rounded once; NULL for other
// ops.
template <class W>
Function<W> exact_function(uint32_t op) {
  switch (op) {
    case TENON_OP_add:
      return [](W a, W b) { return a + b; };
    case TENON_OP_sub:
      return [](W a, W b) { return a - b; };
    case TENON_OP_mul:
      return [](W a, W b) { return a * b; };
    case TENON_OP_div:
      return [](W a, W b) { return a / b; };
    case TENON_OP_floor_div:
      return [](W a, W b) { return floor_divide(a, b); };
    case TENON_OP_mod:
      return [](W a, W b) { return floor_mod(a, b); };
    case TENON_OP_fmod:
      return [](W a, W b) { return std::fmod(a, b); };
    case TENON_OP_maximum:
      return [](W a, W b) { return std::isnan(a) || b < a ? a : b; };
    case TENON_OP_minimum:
      return [](W a, W b) { return std::isnan(a) || a < b ? a : b; };
    case TENON_OP_copysign:
      return [](W a, W b) { return std::copysign(a, b); };
    default:
      return nullptr;
  }
}

// Returns the function of a transcendental op, to be computed in a wider float; NULL for other ops.
template <class W>
Function<W> wide_function(uint32_t op) {
  switch (op) {
    case TENON_OP_pow:
      return [](W a, W b) {
        // glibc's pow for long double cannot negate the exponent -2^63, and returns a^(2^63) for
        // it.
        if constexpr (std::is_same_v<W, long double>) {
          if (b == -0x1p63L) return 1 / std::pow(a, -b);
        }
        return std::pow(a, b);
      };
    case TENON_OP_atan2:
      return [](W a, W b) { return std::atan2(a, b); };
    default:
      return nullptr;
  }
}

// Prepares an op on floats. Computes in Exact<T> if the op has an exact_function(), otherwise in
// Wide<T>.
template <class T>
Prepared float_kernel(uint32_t op) {
  if (const auto exact = exact_function<Exact<T>>(op)) return map_kernel<T, T>(exact);
  return map_kernel<T, T>(wide_function<Wide<T>>(op));
}

// The next float after `a` towards `b`. The bits of a float without its sign, read as an integer,
// increase with its magnitude.
template <class T>
T next_after(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t,
                                  std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
  const double from = widen<double>(a), to = widen<double>(b);
  if (std::isnan(from) || std::isnan(to)) return narrow<T>(from + to);
  if (from == to) return b;
  Bits bits = 1;  // The successor of zero: the smallest subnormal.
  if (from != 0) {
    const bool is_outwards = (to > from) == (from > 0);
    std::memcpy(&bits, &a, sizeof bits);
    bits = static_cast<Bits>(is_outwards ? bits + 1 : bits - 1);
  } else if (to < 0) {
    bits = static_cast<Bits>(bits | Bits(1) << (8 * sizeof(Bits) - 1));
  }
  std::memcpy(static_cast<void*>(&a), &bits, sizeof bits);
  return a;
}

// ---- comparisons

template <class W>
bool (*compare_function(uint32_t op))(W, W) {
  switch (op) {
    case TENON_OP_equal:
      return [](W a, W b) { return a == b; };
    case TENON_OP_not_equal:
      return [](W a, W b) { return a != b; };
    case TENON_OP_less:
      return [](W a, W b) { return a < b; };
    case TENON_OP_less_equal:
      return [](W a, W b) { return a <= b; };
    case TENON_OP_greater:
      return [](W a, W b) { return a > b; };
    case TENON_OP_greater_equal:
      return [](W a, W b) { return a >= b; };
    default:
      return nullptr;
  }
}

}  // namespace

Prepared prepare_arithmetic(const Request& request) {
  const uint32_t op = request.op();
  return dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) {
    if constexpr (kIsFloat<T>) {
      return float_kernel<T>(op);
    } else {
      return map_kernel<T, T>(int_function<Exact<T>>(op));
    }
  });
}

Prepared prepare_float_binary(const Request& request) {
  const uint32_t op = request.op();
  return dispatch<tenon_sdk::Floats>(request.input(0).dtype,
                                     [&]<class T>(Type<T>) { return float_kernel<T>(op); });
}

Prepared prepare_nextafter(const Request& request) {
  return dispatch<tenon_sdk::Floats>(
      request.input(0).dtype, [&]<class T>(Type<T>) { return map_kernel<T, T>(&next_after<T>); });
}

Prepared prepare_compare(const Request& request) {
  const uint32_t op = request.op();
  return dispatch<tenon_sdk::Any>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return map_kernel<Bool, T>(compare_function<Exact<T>>(op));
  });
}

Prepared prepare_logical(const Request& request) {
  using W = uint64_t;  // Values are 0 or 1.
  switch (request.op()) {
    case TENON_OP_logical_not:
      return map_kernel<Bool, Bool>(+[](W x) { return x ^ 1; });
    case TENON_OP_logical_and:
      return map_kernel<Bool, Bool>(+[](W a, W b) { return a & b; });
    case TENON_OP_logical_or:
      return map_kernel<Bool, Bool>(+[](W a, W b) { return a | b; });
    case TENON_OP_logical_xor:
      return map_kernel<Bool, Bool>(+[](W a, W b) { return a ^ b; });
    default:
      return tenon_sdk::refuse("does not support this op: only the logical ops");
  }
}

// Prepares the bitwise ops and the shifts.
Prepared prepare_bitwise(const Request& request) {
  const uint32_t op = request.op();
  if (request.input(0).dtype == TENON_BOOL)
    return map_kernel<Bool, Bool>(int_function<uint64_t>(op));
  return dispatch<tenon_sdk::Ints>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return map_kernel<T, T>(int_function<Exact<T>>(op));
  });
}

}  // namespace tenon_ref
