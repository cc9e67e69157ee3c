// Functions of long double for Emscripten, whose long double has 113 bits. Its C library computes
// some of them in double; the others have the full precision. Its division returns twice the
// quotient if the quotient, before it is rounded, is slightly above a power of two.

#include <float.h>

#include <boost/math/special_functions/acosh.hpp>
#include <boost/math/special_functions/asinh.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/expm1.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/log1p.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>

namespace {

using Quad = boost::multiprecision::cpp_bin_float_quad;

// On a domain error, a pole or overflow, functions return NaN or infinity, like the C library.
namespace policies = boost::math::policies;
using Policy = policies::policy<policies::domain_error<policies::ignore_error>,
                                policies::pole_error<policies::ignore_error>,
                                policies::overflow_error<policies::ignore_error>,
                                policies::evaluation_error<policies::ignore_error>>;

bool is_integer(long double x) { return std::floor(x) == x; }
bool is_odd(long double x) { return std::fabs(std::fmod(x, 2.0L)) == 1; }

// Subnormal numbers count as zeros: neither the kit's problems nor Quad have any.
bool is_regular(long double x) { return std::isfinite(x) && std::fabs(x) >= LDBL_MIN; }

// Returns f(x), computed in Quad. For 0, infinity and NaN, which double represents, returns
// in_double(x), which is exact for them.
template <class F>
long double compute(F f, double (*in_double)(double), long double x) {
  if (!is_regular(x)) return in_double(static_cast<double>(x));
  return static_cast<long double>(Quad(f(Quad(x))));
}

// If an operand of a power is 0, infinite or NaN, the result depends only on which side of 1 the
// base is, and on whether the exponent is odd, even or not an integer. simplify_base() and
// simplify_exponent() return the simplest double with the same properties.
double simplify_base(long double x) {
  if (!is_regular(x)) return static_cast<double>(x);
  const long double magnitude = std::fabs(x);
  return std::copysign(magnitude == 1 ? 1 : magnitude < 1 ? 0.5 : 2, static_cast<double>(x));
}
double simplify_exponent(long double y) {
  if (!is_regular(y)) return static_cast<double>(y);
  return std::copysign(is_odd(y) ? 1 : is_integer(y) ? 2 : 0.5, y < 0 ? -1 : 1);
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names of the C library
extern "C" {

long double expl(long double x) {
  return compute([](const Quad& q) { return exp(q); }, ::exp, x);
}
long double expm1l(long double x) {
  return compute([](const Quad& q) { return boost::math::expm1(q, Policy()); }, ::expm1, x);
}
long double logl(long double x) {
  return compute([](const Quad& q) { return log(q); }, ::log, x);
}
long double log2l(long double x) {
  return compute([](const Quad& q) { return log2(q); }, ::log2, x);
}
long double log10l(long double x) {
  return compute([](const Quad& q) { return log10(q); }, ::log10, x);
}
long double log1pl(long double x) {
  return compute([](const Quad& q) { return boost::math::log1p(q, Policy()); }, ::log1p, x);
}
long double sinhl(long double x) {
  return compute([](const Quad& q) { return sinh(q); }, ::sinh, x);
}
long double coshl(long double x) {
  return compute([](const Quad& q) { return cosh(q); }, ::cosh, x);
}
long double tanhl(long double x) {
  return compute([](const Quad& q) { return tanh(q); }, ::tanh, x);
}
long double asinhl(long double x) {
  return compute([](const Quad& q) { return boost::math::asinh(q, Policy()); }, ::asinh, x);
}
long double acoshl(long double x) {
  return compute([](const Quad& q) { return boost::math::acosh(q, Policy()); }, ::acosh, x);
}
long double erfl(long double x) {
  return compute([](const Quad& q) { return boost::math::erf(q, Policy()); }, ::erf, x);
}
long double erfcl(long double x) {
  return compute([](const Quad& q) { return boost::math::erfc(q, Policy()); }, ::erfc, x);
}
long double lgammal(long double x) {
  if (x < 0 && is_integer(x)) return HUGE_VALL;
  return compute([](const Quad& q) { return boost::math::lgamma(q, Policy()); }, ::lgamma, x);
}
long double powl(long double x, long double y) {
  if (!is_regular(x) || !is_regular(y) || (x < 0 && !is_integer(y))) {
    return ::pow(simplify_base(x), simplify_exponent(y));
  }
  const auto power = static_cast<long double>(Quad(pow(Quad(std::fabs(x)), Quad(y))));
  return x < 0 && is_odd(y) ? -power : power;
}

// The division operator.
long double __divtf3(long double x, long double y) {
  if (is_regular(x) && is_regular(y)) return static_cast<long double>(Quad(Quad(x) / Quad(y)));
  // The result is 0, infinity or NaN, and depends only on the kinds and signs of the operands.
  const auto simplify = [](long double z) {
    return is_regular(z) ? std::copysign(1, static_cast<double>(z)) : static_cast<double>(z);
  };
  return simplify(x) / simplify(y);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
