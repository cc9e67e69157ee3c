// What the tests of the expansions share: each function with its bound, the ranges where it is
// sampled densely, and an oracle of more than twice the precision.

#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/ops/expansions/activation.h"
#include "core/ops/expansions/erf.h"
#include "core/ops/expansions/exp.h"
#include "core/ops/expansions/gamma.h"
#include "core/ops/expansions/hyperbolic.h"
#include "core/ops/expansions/inverse_trig.h"
#include "core/ops/expansions/log.h"
#include "core/ops/expansions/pow.h"
#include "core/ops/expansions/root.h"
#include "core/ops/expansions/scalar_value.h"
#include "core/ops/expansions/trig.h"

namespace tenon::expansions::testing {

// The C library's functions for double, and in binary128 where it has them (glibc); elsewhere in
// long double, which is enough to tell a wrong digit from a right one.
namespace wide {

#if defined(__HAVE_FLOAT128) && __HAVE_FLOAT128
using Quad = __float128;
// clang-format off
#define TENON_WIDE(f) inline Quad f(Quad x) { return ::f##f128(x); }
#define TENON_WIDE_2(f) inline Quad f(Quad x, Quad y) { return ::f##f128(x, y); }
TENON_WIDE(exp) TENON_WIDE(exp2) TENON_WIDE(expm1)
TENON_WIDE(log) TENON_WIDE(log2) TENON_WIDE(log10) TENON_WIDE(log1p)
TENON_WIDE(sin) TENON_WIDE(cos) TENON_WIDE(tan) TENON_WIDE(asin) TENON_WIDE(acos) TENON_WIDE(atan)
TENON_WIDE(sinh) TENON_WIDE(cosh) TENON_WIDE(tanh)
TENON_WIDE(asinh) TENON_WIDE(acosh) TENON_WIDE(atanh)
TENON_WIDE(erf) TENON_WIDE(erfc) TENON_WIDE(lgamma) TENON_WIDE(sqrt) TENON_WIDE(cbrt)
TENON_WIDE(nearbyint) TENON_WIDE(fabs)
TENON_WIDE_2(pow) TENON_WIDE_2(atan2)
#undef TENON_WIDE
#undef TENON_WIDE_2
// clang-format on
#else
using Quad = long double;
#endif

                        using std::acos,
    std::acosh, std::asin, std::asinh, std::atan, std::atan2, std::atanh, std::cbrt, std::cos,
    std::cosh, std::erf, std::erfc, std::exp, std::exp2, std::expm1, std::fabs, std::lgamma,
    std::log, std::log10, std::log1p, std::log2, std::nearbyint, std::pow, std::sin, std::sinh,
    std::sqrt, std::tan, std::tanh;

template <class W>
W sigmoid(W x) {
  return 1 / (1 + wide::exp(-x));
}
template <class W>
W softplus(W x) {
  return x > 0 ? x + wide::log1p(wide::exp(-x)) : wide::log1p(wide::exp(x));
}
template <class W>
W gelu(W x) {
  return x / 2 * wide::erfc(-x / wide::sqrt(W(2)));
}

// Bernoulli's numbers B2, B4, ... From an argument of 32 on, the asymptotic series with these terms
// is good to binary128.
inline constexpr double kBernoulli[][2] = {
    {1, 6}, {-1, 30},     {1, 42},      {-1, 30},       {5, 66},       {-691, 2730},
    {7, 6}, {-3617, 510}, {43867, 798}, {-174611, 330}, {854513, 138}, {-236364091, 2730}};

template <class W>
W digamma(W x) {
  const W kPi = wide::acos(W(-1));
  if (x < 0) {
    const W offset = x - wide::nearbyint(x);
    return offset == 0 ? W(kNan) : wide::digamma(1 - x) - kPi / wide::tan(kPi * offset);
  }
  W y = 0;
  for (; x < 32; x += 1) y -= 1 / x;
  const W square = 1 / (x * x);
  W power = 1;
  W series = 0;
  for (int k = 0; k < 12; ++k) {
    power *= square;
    series += W(kBernoulli[k][0]) / W(kBernoulli[k][1]) / (2 * k + 2) * power;
  }
  return y + ((wide::log(x) - 1 / (2 * x)) - series);
}

template <class W>
W trigamma(W x) {
  const W kPi = wide::acos(W(-1));
  if (x < 0) {
    const W sine = x == -kInfinity ? W(0) : wide::sin(kPi * (x - wide::nearbyint(x))) / kPi;
    return sine == 0 ? W(kInfinity) : 1 / (sine * sine) - wide::trigamma(1 - x);
  }
  W y = 0;
  for (; x < 32; x += 1) y += 1 / (x * x);
  const W square = 1 / (x * x);
  W power = 1 / x;
  W series = power + square / 2;
  for (const auto& [numerator, denominator] : kBernoulli) {
    power *= square;
    series += W(numerator) / W(denominator) * power;
  }
  return y + series;
}

}  // namespace wide

template <class T>
using Wide = std::conditional_t<sizeof(T) == 4, double, wide::Quad>;

// Division and square root as bad as a device may have them: off by up to two ulp more than by
// their rounding, in a sequence that is the same on every run.
struct WorstPolicy : PlainPolicy {
  template <class T>
  static T divide(T a, T b) {
    return moved(a / b);
  }
  template <class T>
  static T square_root(T x) {
    return moved(std::sqrt(x));
  }

 private:
  template <class T>
  static T moved(T x) {
    using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    if (!std::isnormal(x)) return x;
    const T y = same_bits<T>(static_cast<Bits>(same_bits<Bits>(x) + int(state >> 8) % 5 - 2));
    return std::isnormal(y) ? y : x;
  }
};

// Counts instructions; constants are none.
struct CountingPolicy : PlainPolicy {
  static void count() { ++counted(); }
  static int& counted() {
    static int count = 0;
    return count;
  }
};

struct Range {
  double low, high;
};

// One expansion, as a function of one or two numbers under each policy. The second of one is 0.
template <class T>
struct Expansion {
  template <class V>
  using Function = std::function<V(V, V)>;

  std::string name;
  double bound;     // In ulp.
  double absolute;  // Or so much, where a factor of the result is subnormal or a sum cancels.
  std::vector<Range> ranges;
  bool is_binary;
  Function<ScalarValue<T>> plain;
  Function<ScalarValue<T, WorstPolicy>> worst;
  Function<ScalarValue<T, CountingPolicy>> counting;
  Function<Wide<T>> oracle;
};

template <class T, class Formula, class Oracle>
Expansion<T> unary(const char* name, double bound, std::vector<Range> ranges, Formula formula,
                   Oracle oracle, double absolute = 0) {
  const auto first = [](auto f) { return [f](auto x, auto) { return f(x); }; };
  return {name,           bound,          absolute,       std::move(ranges), false,
          first(formula), first(formula), first(formula), first(oracle)};
}

template <class T, class Formula, class Oracle>
Expansion<T> binary(const char* name, double bound, std::vector<Range> ranges, Formula formula,
                    Oracle oracle) {
  return {name, bound, 0, std::move(ranges), true, formula, formula, formula, oracle};
}

// One that is tested at positive numbers alone.
template <class T, class Formula, class Oracle>
Expansion<T> of_magnitude(const char* name, double bound, std::vector<Range> ranges,
                          Formula formula, Oracle oracle) {
  return unary<T>(
      name, bound, std::move(ranges), [formula](auto x) { return formula(abs(x)); },
      [oracle](auto x) { return oracle(wide::fabs(x)); });
}

// The bounds are those of the strict profile; float64 has 4 where float32 has less.
template <class T>
std::vector<Expansion<T>> all_expansions() {
  const bool narrow = sizeof(T) == 4;
  const double three = narrow ? 3 : 4, two = narrow ? 2 : 4;
  const double most = narrow ? 90 : 711, least = narrow ? -105 : -747;
#define TENON_UNARY(name, bound, ...)                                          \
  unary<T>(                                                                    \
      #name, bound, {__VA_ARGS__}, [](auto x) { return expansions::name(x); }, \
      [](auto x) { return wide::name(x); })
  return {
      TENON_UNARY(exp, three, {least, most}, {-1, 1}),
      TENON_UNARY(exp2, three, {narrow ? -151 : -1077., narrow ? 129 : 1025.}, {-1, 1}),
      TENON_UNARY(expm1, three, {-38, most}, {-2, 2}),
      TENON_UNARY(log, three, {0, 3}, {0.9, 1.1}),
      TENON_UNARY(log2, three, {0, 3}, {0.9, 1.1}),
      TENON_UNARY(log10, three, {0, 3}, {0.9, 1.1}),
      TENON_UNARY(log1p, two, {-1, 3}, {-0.1, 0.1}),
      TENON_UNARY(sin, 4, {-7, 7}, {-1e6, 1e6}),
      TENON_UNARY(cos, 4, {-7, 7}, {-1e6, 1e6}),
      TENON_UNARY(tan, 5, {-7, 7}, {-1e6, 1e6}),
      TENON_UNARY(asin, 4, {-1, 1}, {0.4, 0.6}),
      TENON_UNARY(acos, 4, {-1, 1}, {0.4, 0.6}),
      TENON_UNARY(atan, 5, {-2, 2}, {-30, 30}),
      TENON_UNARY(sinh, 4, {least, most}, {-2, 2}),
      TENON_UNARY(cosh, 4, {least, most}, {-2, 2}),
      TENON_UNARY(tanh, 5, {-20, 20}, {-1, 1}),
      TENON_UNARY(asinh, 4, {-3, 3}, {-100, 100}),
      TENON_UNARY(acosh, 4, {1, 3}, {1, 100}),
      TENON_UNARY(atanh, 5, {-1, 1}, {0.4, 0.6}),
      TENON_UNARY(erf, 4, {-6, 6}, {-2, 2}),
      TENON_UNARY(erfc, 6, {narrow ? -4 : -6., narrow ? 10.5 : 27.5}, {-2, 2}),
      TENON_UNARY(cbrt, 2, {-3, 3}, {0, 1000}),
      TENON_UNARY(sigmoid, 6, {least, -least}, {-10, 10}),
      TENON_UNARY(softplus, 6, {least, -least}, {-10, 10}),
      unary<T>(
          "rsqrt", two, {{0, 4}, {0, 1000}}, [](auto x) { return expansions::rsqrt(x); },
          [](auto x) { return 1 / wide::sqrt(x); }),
      unary<T>(
          "silu", 8, {{-20, 20}, {-2, 2}}, [](auto x) { return expansions::silu(x); },
          [](auto x) { return x * wide::sigmoid(x); }, std::numeric_limits<T>::min()),
      unary<T>(
          "gelu", 8, {{-8, 8}, {-2, 2}}, [](auto x) { return expansions::gelu(x); },
          [](auto x) { return wide::gelu(x); }, narrow ? 1e-6 : 2e-15),
      of_magnitude<T>(
          "lgamma", 8, {{0, 10}, {0.5, 2.5}}, [](auto x) { return expansions::lgamma(x); },
          [](auto x) { return wide::lgamma(x); }),
      of_magnitude<T>(
          "digamma", 8, {{0, 10}, {1.4, 1.5}}, [](auto x) { return expansions::digamma(x); },
          [](auto x) { return wide::digamma(x); }),
      TENON_UNARY(trigamma, 8, {-20, 20}, {0, 5}),
      unary<T>(
          "lgamma_below_zero", 8, {{-30, 0}, {-4, 0}}, [](auto x) { return expansions::lgamma(x); },
          [](auto x) { return wide::lgamma(x); }, narrow ? 1e-5 : 2e-14),
      unary<T>(
          "digamma_below_zero", 8, {{-30, 0}, {-4, 0}},
          [](auto x) { return expansions::digamma(x); }, [](auto x) { return wide::digamma(x); },
          narrow ? 8e-6 : 3e-14),
      binary<T>(
          "pow", 16, {{0, 3}, {-100, 100}, {0.99, 1.01}},
          [](auto x, auto y) { return expansions::pow(x, y); },
          [](auto x, auto y) { return wide::pow(x, y); }),
      binary<T>(
          "atan2", 6, {{-2, 2}, {-100, 100}},
          [](auto y, auto x) { return expansions::atan2(y, x); },
          [](auto y, auto x) { return wide::atan2(y, x); }),
  };
#undef TENON_UNARY
}

// |got - oracle| in ulp of the oracle, which is not rounded.
template <class T>
double ulp_error(T got, Wide<T> oracle) {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (oracle != oracle) return got != got ? 0 : kInfinite;
  if (got != got) return kInfinite;

  const Wide<T> magnitude = oracle < 0 ? -oracle : oracle;
  const Wide<T> largest = Limits::max(), above = largest * (Limits::epsilon() / 4);
  if (magnitude >= largest + above && std::isinf(got))
    return (got > 0) == (oracle > 0) ? 0 : kInfinite;
  if (magnitude > 2 * largest) return kInfinite;

  // The exponent of the oracle, rounded down: rounding to T may have gone up to the next one.
  const T rounded = magnitude > largest ? Limits::max() : static_cast<T>(magnitude);
  const Bits below = Wide<T>(rounded) > magnitude && rounded > 0 ? 1 : 0;
  const int exponent =
      static_cast<int>((same_bits<Bits>(rounded) - below) >> Format<T>::kMantissaBits);
  const Wide<T> ulp =
      std::ldexp(T(1), std::max(exponent, 1) - Format<T>::kBias - Format<T>::kMantissaBits);
  const Wide<T> value = std::isinf(got) ? std::copysign(Wide<T>(largest) * 2, got) : Wide<T>(got);
  const Wide<T> error = value > oracle ? value - oracle : oracle - value;
  return static_cast<double>(error / ulp);
}

}  // namespace tenon::expansions::testing
