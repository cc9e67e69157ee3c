// Shared by the tests of the expansions: a list of all expansions, each with its error bound, the
// ranges that are sampled densely, and an oracle of more than twice the precision.

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

// The functions of the oracle, in double and in binary128. They call the C library. If it has no
// functions for binary128 (only glibc has them), those for long double replace them, which are
// precise enough to detect a wrong digit.
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

// The Bernoulli numbers B2, B4, ... as fractions. The asymptotic series with these terms is
// accurate to binary128 for arguments >= 32.
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

// Division and square root with the largest error that a device may have: up to two ulp in addition
// to their rounding. The errors are pseudorandom and the same in every run.
struct WorstPolicy : PlainPolicy {
  template <class T>
  static T divide(T a, T b) {
    return perturb(a / b);
  }
  template <class T>
  static T square_root(T x) {
    return perturb(std::sqrt(x));
  }

 private:
  // Returns x, changed by a pseudorandom number of -2 to 2 ulp.
  template <class T>
  static T perturb(T x) {
    using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    if (!std::isnormal(x)) return x;
    const T y = same_bits<T>(static_cast<Bits>(same_bits<Bits>(x) + int(state >> 8) % 5 - 2));
    return std::isnormal(y) ? y : x;
  }
};

// Counts the instructions of an expansion, without constants.
struct CountingPolicy : PlainPolicy {
  // Counts one instruction.
  static void count() { ++instruction_count(); }
  // The number of instructions so far.
  static int& instruction_count() {
    static int count = 0;
    return count;
  }
};

struct Range {
  double low, high;
};

// An expansion, instantiated with each policy, and its tolerances. The functions take two
// arguments; unary expansions ignore the second one.
template <class T>
struct Expansion {
  template <class V>
  using Function = std::function<V(V, V)>;

  std::string name;
  double bound;     // Maximum error in ulp.
  double absolute;  // Permitted absolute error, for results that cancel or underflow.
  std::vector<Range> ranges;
  bool is_binary;
  Function<ScalarValue<T>> plain;
  Function<ScalarValue<T, WorstPolicy>> worst;
  Function<ScalarValue<T, CountingPolicy>> counting;
  Function<Wide<T>> oracle;
};

// Returns all expansions. expansion_cases.cc instantiates this template once for each type.
template <class T>
std::vector<Expansion<T>> all_expansions();
extern template std::vector<Expansion<float>> all_expansions();
extern template std::vector<Expansion<double>> all_expansions();

// The error |got - oracle|, in ulp of T at the magnitude of the oracle.
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

  // Use the exponent of the oracle: rounding it to T may have given the next power of two.
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
