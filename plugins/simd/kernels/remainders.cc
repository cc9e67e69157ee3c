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

// The fast paths of the functions above. They have no branches, so that the compiler vectorises
// their loops. Each returns whether its result is valid.
inline bool fast_remainder(float a, float b, float& result) {
  const double x = std::fabs(static_cast<double>(a)), y = std::fabs(static_cast<double>(b));
  const double quotient = x / y;
  double rest = x - std::trunc(quotient) * y;
  rest = rest < 0 ? rest + y : rest;
  rest = rest >= y ? rest - y : rest;
  result = std::copysign(static_cast<float>(rest), a);
  return (quotient < 0x1p29) & (y < HUGE_VAL);
}
// The rounded quotient is never less than the exact one rounded down to an integer, because
// rounding is monotonic. So the truncated quotient is at most 1 too large. Both possible
// differences are exact: they are multiples of the last place of `y` and smaller than `y`.
[[maybe_unused]] inline bool fast_remainder(double a, double b, double& result) {
  const double x = std::fabs(a), y = std::fabs(b);
  const double quotient = x / y;
  double rest = std::fma(-std::trunc(quotient), y, x);
  rest = rest < 0 ? rest + y : rest;
  result = std::copysign(rest, a);
  return (quotient < 0x1p53) & (y < HUGE_VAL);
}
template <class T>
bool fast_floor_mod(T a, T b, T& result) {
  T rest;
  const bool is_valid = fast_remainder(a, b, rest);
  const T moved = (rest < 0) != (b < 0) ? rest + b : rest;
  result = rest == 0 ? std::copysign(rest, b) : moved;
  return is_valid;
}
template <class T>
bool fast_floor_divide(T a, T b, T& result) {
  const T quotient = a / b, nearest = std::nearbyint(quotient);
  const T rest = std::fma(-nearest, b, a);
  const bool is_above = (rest != 0) & ((rest < 0) != (b < 0));
  const bool is_below = std::fabs(rest) >= std::fabs(b);
  const T whole = is_above ? nearest - 1 : is_below ? nearest + 1 : nearest;
  result = whole == 0 ? std::copysign(whole, quotient) : whole;
  return (std::fabs(quotient) < HUGE_VAL) & (std::fabs(b) < HUGE_VAL);
}

// Returns a span that computes `Fast` for chunks of elements, and then `Exact` for the chunks in
// which a result is invalid.
template <class T, class Fast, class Exact>
Span checked_loop(Fast, Exact) {
  return
      [](const void* const* in, const size_t* step, void* out, size_t n, const SpanParams& params) {
        constexpr size_t kChunk = 64;
        const T *const a = static_cast<const T*>(in[0]), *const b = static_cast<const T*>(in[1]);
        T* const y = static_cast<T*>(out);
        for (size_t first = 0; first < n; first += kChunk) {
          T left[kChunk], right[kChunk], results[kChunk];
          const size_t count = std::min(kChunk, n - first);
          const T *x = a + first * step[0], *z = b + first * step[1];
          if (step[0] == 0) x = static_cast<const T*>(std::fill_n(left, count, *a) - count);
          if (step[1] == 0) z = static_cast<const T*>(std::fill_n(right, count, *b) - count);
          int n_invalid = 0;
          for (size_t i = 0; i < count; ++i) n_invalid += Fast{}(x[i], z[i], results[i]) ? 0 : 1;
          if (n_invalid == 0) {
            std::copy_n(results, count, y + first);
          } else {
            const void* const operands[] = {x, z};
            const size_t steps[] = {1, 1};
            binary_loop<T, T>(Exact{})(operands, steps, y + first, count, params);
          }
        }
      };
}

// WebAssembly has no fused multiply-add, which the fast path of float64 needs.
#if defined(__wasm__)
template <class T>
constexpr bool kHasFastRemainder = sizeof(T) == 4;
#else
template <class T>
constexpr bool kHasFastRemainder = true;
#endif

// Returns the span of floor_div, mod or fmod.
template <class T>
Span remainder_span(uint32_t op) {
  switch (op) {
    case TENON_OP_floor_div:
      return checked_loop<T>([](T a, T b, T& y) { return fast_floor_divide(a, b, y); },
                             [](T a, T b) { return floor_divide(a, b); });
    case TENON_OP_mod:
      if constexpr (kHasFastRemainder<T>) {
        return checked_loop<T>([](T a, T b, T& y) { return fast_floor_mod(a, b, y); },
                               [](T a, T b) { return floor_mod(a, b); });
      }
      return binary_loop<T, T>([](T a, T b) { return floor_mod(a, b); });
    case TENON_OP_fmod:
      if constexpr (kHasFastRemainder<T>) {
        return checked_loop<T>([](T a, T b, T& y) { return fast_remainder(a, b, y); },
                               [](T a, T b) { return remainder(a, b); });
      }
      return binary_loop<T, T>([](T a, T b) { return remainder(a, b); });
    default:
      return nullptr;
  }
}

}  // namespace

Prepared prepare_remainder(const Request& request) {
  const Span span =
      dispatch<SpanFloats>(compute_dtype(request.input(0).dtype),
                           [&]<class T>(Type<T>) { return remainder_span<T>(request.op()); });
  return kernel_of(request, span, Cost::kHeavy);
}

}  // namespace tenon_simd
