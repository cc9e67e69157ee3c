// Functions of one element.

#include <cmath>

#include "plugins/ref/elementwise.h"

namespace tenon_ref {
namespace {

using tenon_sdk::dispatch;

template <class W>
using Function = W (*)(W);

// Returns the function of neg, abs, sign or bitwise_not on integers; NULL for other ops. neg and
// abs of the most negative value wrap to that value.
template <class W>
Function<W> int_function(uint32_t op) {
  switch (op) {
    case TENON_OP_neg:
      return [](W x) { return static_cast<W>(0 - static_cast<uint64_t>(x)); };
    case TENON_OP_abs:
      return [](W x) { return x < 0 ? static_cast<W>(0 - static_cast<uint64_t>(x)) : x; };
    case TENON_OP_sign:
      return [](W x) { return static_cast<W>((x > 0) - (x < 0)); };
    case TENON_OP_bitwise_not:
      return [](W x) { return static_cast<W>(~x); };
    default:
      return nullptr;
  }
}

// Returns the function of an op on floats whose result is exact or correctly rounded; NULL for
// other ops.
template <class W>
Function<W> exact_function(uint32_t op) {
  switch (op) {
    case TENON_OP_neg:
      return [](W x) { return -x; };
    case TENON_OP_abs:
      return [](W x) { return std::fabs(x); };
    case TENON_OP_sign:
      return [](W x) { return std::isnan(x) ? x : static_cast<W>((x > 0) - (x < 0)); };
    case TENON_OP_reciprocal:
      return [](W x) { return 1 / x; };
    case TENON_OP_sqrt:
      return [](W x) { return std::sqrt(x); };
    case TENON_OP_floor:
      return [](W x) { return std::floor(x); };
    case TENON_OP_ceil:
      return [](W x) { return std::ceil(x); };
    case TENON_OP_round:  // Ties to even.
      return [](W x) { return std::nearbyint(x); };
    case TENON_OP_trunc:
      return [](W x) { return std::trunc(x); };
    default:
      return nullptr;
  }
}

template <class W>
W sigmoid(W x) {
  // The argument of exp is at most 0, so that it does not overflow.
  const W e = std::exp(-std::fabs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

// ---- digamma and trigamma

// The Bernoulli numbers B2, B4, ... as fractions. The asymptotic series with these terms is
// accurate to binary128 for x >= 32.
constexpr double kBernoulli[][2] = {
    {1, 6}, {-1, 30},     {1, 42},      {-1, 30},       {5, 66},       {-691, 2730},
    {7, 6}, {-3617, 510}, {43867, 798}, {-174611, 330}, {854513, 138}, {-236364091, 2730}};

template <class W>
W digamma(W x) {
  const W pi = std::acos(W(-1));
  if (x < 0) {  // Reflection formula. x minus the nearest integer is exact.
    const W offset = x - std::nearbyint(x);
    return offset == 0 ? W(NAN) : digamma(1 - x) - pi / std::tan(pi * offset);
  }
  W recurrence = 0;
  for (; x < 32; x += 1) recurrence += 1 / x;
  W series = std::log(x) - 1 / (2 * x);
  W power = 1;
  int k = 0;
  for (const auto& [numerator, denominator] : kBernoulli) {
    k += 2;
    power /= x * x;
    series -= W(numerator) / W(denominator) / k * power;
  }
  return series - recurrence;
}

template <class W>
W trigamma(W x) {
  const W pi = std::acos(W(-1));
  if (std::isinf(x)) return x < 0 ? -x : W(0);
  if (x < 0) {
    const W sine = std::sin(pi * (x - std::nearbyint(x))) / pi;
    return sine == 0 ? W(INFINITY) : 1 / (sine * sine) - trigamma(1 - x);
  }
  W recurrence = 0;
  for (; x < 32; x += 1) recurrence += 1 / (x * x);
  W series = 1 / x + 1 / (2 * x * x);
  W power = 1 / x;
  for (const auto& [numerator, denominator] : kBernoulli) {
    power /= x * x;
    series += W(numerator) / W(denominator) * power;
  }
  return series + recurrence;
}

// Returns the function of a transcendental op, to be computed in a wider float; NULL for other ops.
template <class W>
Function<W> wide_function(uint32_t op) {
  switch (op) {
    case TENON_OP_rsqrt:
      return [](W x) { return 1 / std::sqrt(x); };
    case TENON_OP_exp:
      return [](W x) { return std::exp(x); };
    case TENON_OP_exp2:
      return [](W x) { return std::exp2(x); };
    case TENON_OP_expm1:
      return [](W x) { return std::expm1(x); };
    case TENON_OP_log:
      return [](W x) { return std::log(x); };
    case TENON_OP_log2:
      return [](W x) { return std::log2(x); };
    case TENON_OP_log10:
      return [](W x) { return std::log10(x); };
    case TENON_OP_log1p:
      return [](W x) { return std::log1p(x); };
    case TENON_OP_sin:
      return [](W x) { return std::sin(x); };
    case TENON_OP_cos:
      return [](W x) { return std::cos(x); };
    case TENON_OP_tan:
      return [](W x) { return std::tan(x); };
    case TENON_OP_asin:
      return [](W x) { return std::asin(x); };
    case TENON_OP_acos:
      return [](W x) { return std::acos(x); };
    case TENON_OP_atan:
      return [](W x) { return std::atan(x); };
    case TENON_OP_sinh:
      return [](W x) { return std::sinh(x); };
    case TENON_OP_cosh:
      return [](W x) { return std::cosh(x); };
    case TENON_OP_tanh:
      return [](W x) { return std::tanh(x); };
    case TENON_OP_asinh:
      return [](W x) { return std::asinh(x); };
    case TENON_OP_acosh:
      return [](W x) { return std::acosh(x); };
    case TENON_OP_atanh:
      return [](W x) { return std::atanh(x); };
    case TENON_OP_erf:
      return [](W x) { return std::erf(x); };
    case TENON_OP_erfc:
      return [](W x) { return std::erfc(x); };
    case TENON_OP_lgamma:
      return [](W x) { return std::lgamma(x); };
    case TENON_OP_digamma:
      return [](W x) { return digamma(x); };
    case TENON_OP_trigamma:
      return [](W x) { return trigamma(x); };
    case TENON_OP_cbrt:
      return [](W x) { return std::cbrt(x); };
    case TENON_OP_sigmoid:
      return [](W x) { return sigmoid(x); };
    default:
      return nullptr;
  }
}

}  // namespace

// Prepares neg, abs and sign of floats and integers, and bitwise_not of integers and bool.
Prepared prepare_unary(const Request& request) {
  const uint32_t op = request.op();
  return dispatch<tenon_sdk::Any>(request.input(0).dtype, [&]<class T>(Type<T>) {
    if constexpr (kIsFloat<T>) {
      return map_kernel<T, T>(exact_function<Exact<T>>(op));
    } else if constexpr (std::is_same_v<T, Bool>) {
      return map_kernel<T, T>(+[](uint64_t x) { return x == 0; });
    } else {
      return map_kernel<T, T>(int_function<Exact<T>>(op));
    }
  });
}

Prepared prepare_float_unary(const Request& request) {
  const uint32_t op = request.op();
  return dispatch<tenon_sdk::Floats>(request.input(0).dtype, [&]<class T>(Type<T>) {
    if (const auto exact = exact_function<Exact<T>>(op)) return map_kernel<T, T>(exact);
    return map_kernel<T, T>(wide_function<Wide<T>>(op));
  });
}

// Prepares isnan and isinf.
Prepared prepare_predicate(const Request& request) {
  const bool nan = request.op() == TENON_OP_isnan;
  return dispatch<tenon_sdk::Floats>(request.input(0).dtype, [&]<class T>(Type<T>) {
    using W = Exact<T>;
    return map_kernel<Bool, T>(nan ? +[](W x) { return std::isnan(x); }
                                   : +[](W x) { return std::isinf(x); });
  });
}

}  // namespace tenon_ref
