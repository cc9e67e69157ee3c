// floor_div, mod and fmod on floats, and fma on half types.

#include <cmath>
#include <limits>

#include "plugins/simd/kernels/loops.h"

namespace tenon_simd {
namespace {

// Returns the exact remainder with the sign of `a`. If the quotient is at most 2^29, its product
// with a float is exact in double, so one division suffices. The rounded quotient may differ from
// the exact one by 1.
inline float remainder(float a, float b) {
  const double x = std::fabs(static_cast<double>(a)), y = std::fabs(static_cast<double>(b));
  const double quotient = x / y;
  if (!(quotient < 0x1p29) || y == HUGE_VAL) return std::fmod(a, b);
  double rest = x - std::trunc(quotient) * y;
  if (rest < 0) rest += y;
  if (rest >= y) rest -= y;
  return std::copysign(static_cast<float>(rest), a);
}
inline double remainder(double a, double b) { return std::fmod(a, b); }

// Returns the remainder with the sign of `b`.
template <class T>
T floor_mod(T a, T b) {
  const T rest = remainder(a, b);
  if (rest == 0) return std::copysign(rest, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

// Returns the floor of the exact quotient. The integer nearest to the rounded quotient differs from
// the floor by at most 1, and the sign of the exact remainder determines the correction. If `a` is
// infinite, the result is NaN, because an infinity has no remainder.
template <class T>
T floor_divide(T a, T b) {
  const T quotient = a / b;
  if (b != 0 && std::isinf(a)) return std::numeric_limits<T>::quiet_NaN();
  if (b == 0 || !std::isfinite(quotient)) return quotient;
  T whole = std::nearbyint(quotient);
  const T rest = std::isinf(b) ? a : std::fma(-whole, b, a);
  if (rest != 0 && (rest < 0) != (b < 0)) {
    whole -= 1;
  } else if (std::fabs(rest) >= std::fabs(b)) {
    whole += 1;
  }
  return whole == 0 ? std::copysign(whole, quotient) : whole;
}

// Returns the span of floor_div, mod or fmod.
template <class T>
Span remainder_span(uint32_t op) {
  switch (op) {
    case TENON_OP_floor_div:
      return binary_loop<T, T>([](T a, T b) { return floor_divide(a, b); });
    case TENON_OP_mod:
      return binary_loop<T, T>([](T a, T b) { return floor_mod(a, b); });
    case TENON_OP_fmod:
      return binary_loop<T, T>([](T a, T b) { return remainder(a, b); });
    default:
      return nullptr;
  }
}

// x * y + z for half types, before the conversion to a half type. The product is exact in double.
// The sum is rounded to odd, using the rounding error of the addition, so that the later conversion
// gives the correctly rounded result.
inline float fma_round_to_odd(float x, float y, float z) {
  const double product = static_cast<double>(x) * static_cast<double>(y);
  const double sum = product + static_cast<double>(z);
  if (!std::isfinite(sum)) return static_cast<float>(sum);
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (static_cast<double>(z) - part);
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  double odd = sum;
  if (lost != 0 && (bits & 1) == 0) odd = std::nextafter(sum, lost > 0 ? HUGE_VAL : -HUGE_VAL);
  return tenon_sdk::detail::round_to_odd(odd);
}

}  // namespace

Prepared prepare_remainder(const Request& request) {
  const Span span =
      dispatch<SpanFloats>(compute_dtype(request.input(0).dtype),
                           [&]<class T>(Type<T>) { return remainder_span<T>(request.op()); });
  return kernel_of(request, span, Cost::kHeavy);
}

Prepared prepare_half_fma(const Request& request) {
  return kernel_of(request, ternary_loop<float, float, float, float>([](float x, float y, float z) {
                     return fma_round_to_odd(x, y, z);
                   }));
}

}  // namespace tenon_simd
