// Generates values: uniform, special values of a dtype, random bits, or random exponents.

#include "conformance/kit/fill.h"

#include <algorithm>
#include <random>

#include "conformance/kit/problem.h"
#include "conformance/kit/whole.h"

namespace tenon_kit {
namespace {

using Engine = std::mt19937_64;

// A random number in [0, 1).
Real random_unit(Engine& engine) { return static_cast<double>(engine() >> 11) * 0x1p-53; }

// Draws a number from [low, high); an integer for integer dtypes.
Real uniform(Engine& engine, double low, double high, tenon_dtype dtype) {
  const Real value = low + (static_cast<Real>(high) - low) * random_unit(engine);
  if (is_float(dtype)) return value;
  const Real whole = real_rint(value - Real(0.5));
  return std::min<Real>(whole, static_cast<Real>(high) - 1);
}

// Uniformly random bits, including subnormals and NaNs.
Real random_bits(Engine& engine, tenon_dtype dtype) {
  const uint64_t bits[2] = {engine(), engine()};
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(bits),
                                         facts(dtype).size);
  return decode(bytes, dtype)[0];
}

// A random value of either sign with a uniformly distributed exponent.
Real random_magnitude(Engine& engine, tenon_dtype dtype) {
  if (!is_float(dtype)) return random_bits(engine, dtype);
  const DTypeFacts& f = facts(dtype);
  const Real exponents = f.greatest_exponent - f.least_exponent;
  const int exponent = f.least_exponent + static_cast<int>(random_unit(engine) * exponents);
  const Real value = real_scale(1 + random_unit(engine), exponent);
  return (engine() & 1) != 0 ? -value : value;
}

// Rounds the values to the dtype, sorts them, and removes duplicates and non-finite values. For
// integer dtypes, values that are not integers are removed.
Reals sort_and_deduplicate(Reals values, tenon_dtype dtype) {
  for (Real& x : values) {
    const Real own = rounded(x, dtype);
    if (is_float(dtype)) {
      x = own;
    } else {
      // Adding 0 turns -0 into 0, because integers have no negative zero.
      x = own == x ? own + 0 : Real(NAN);
    }
  }
  std::erase_if(values, [](Real x) { return !real_is_finite(x); });
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Arguments at which functions overflow, underflow or saturate. For exponentials, these are
// multiples of ln 2.
Reals overflow_thresholds(const DTypeFacts& f) {
  const Real ln2 = Real(0.693147180559945309417) + Real(2.3190468138462996e-17);
  const int top = f.greatest_exponent + 1, bottom = f.least_exponent, last = bottom - f.precision;
  Reals values;
  for (const int exponent : {top, top + 1, bottom, last + 1, last, -f.precision, 1 - f.precision}) {
    // exp and expm1 overflow or underflow near this value; sinh and cosh do at `top + 1`.
    values.push_back(exponent * ln2);
    values.push_back(exponent);                     // For exp2.
    values.push_back(exponent * ln2 / 2);           // For tanh.
    values.push_back(real_scale(1, exponent / 2));  // For functions that square their argument.
  }
  return values;
}

}  // namespace

Reals special_values(tenon_dtype dtype) {
  if (is_bool(dtype)) return {0, 1};
  if (is_integer(dtype)) {
    // Includes the number of bits, the limit of shift distances.
    const Real bits = static_cast<int>(8 * facts(dtype).size);
    Reals values = {0,
                    1,
                    2,
                    3,
                    bits - 1,
                    bits,
                    greatest(dtype),
                    greatest(dtype) - 1,
                    least(dtype),
                    least(dtype) + 1};
    if (is_signed(dtype)) values.insert(values.end(), {-1, -2, -3});
    return values;
  }
  const DTypeFacts& f = facts(dtype);
  const Real normal = real_scale(1, f.least_exponent);
  const Real smallest = real_scale(1, f.least_exponent - f.precision + 1);
  const Real epsilon = real_scale(1, 1 - f.precision);
  Reals values = {Real(0),
                  Real(1),
                  Real(0.5),
                  Real(2),
                  1 + epsilon,
                  1 - epsilon / 2,
                  normal,
                  normal - smallest,
                  smallest,
                  3 * smallest,
                  greatest(dtype),
                  greatest(dtype) / 2,
                  real_scale(1, f.precision),
                  Real(1.5),
                  Real(2.5),
                  Real(INFINITY)};
  const size_t n = values.size();
  for (size_t i = 0; i < n; ++i) values.push_back(-values[i]);
  values.push_back(Real(NAN));
  return values;
}

Reals threshold_values(tenon_dtype dtype) {
  if (!is_float(dtype)) return special_values(dtype);
  const DTypeFacts& f = facts(dtype);
  // Values near kinks of activations, rounding ties, zeros and poles, and multiples of pi / 4.
  constexpr double kPlaces[] = {0.5,
                                1,
                                1.5,
                                2,
                                2.5,
                                3,
                                3.5,
                                4,
                                6,
                                10,
                                20,
                                34,
                                170,
                                0.1,
                                0.2,
                                0.25,
                                1.0 / 6,
                                1.0 / 3,
                                0.75,
                                1.4616321449683623,
                                0.78539816339744831,
                                1.5707963267948966,
                                2.3561944901923448,
                                3.1415926535897931,
                                4.7123889803846897,
                                6.2831853071795862};
  Reals at(std::begin(kPlaces), std::end(kPlaces));
  // Powers of two at which integer dtypes end, or above which float dtypes skip integers.
  for (const int bits : {7, 8, 11, 15, 16, 24, 31, 32, 53, 63, 64}) {
    at.push_back(real_scale(1, bits));
    at.push_back(real_scale(1, bits) - Real(0.5));
  }
  for (const Real end : overflow_thresholds(f)) at.push_back(end);
  Reals values;
  for (const Real threshold : at) {
    const Real x = rounded(threshold, dtype);
    if (!real_is_finite(x) || x == 0) continue;
    // The spacing of floats below a power of two is half of that above it.
    for (const Real near : {x, x + ulp(x, dtype), x - ulp(x, dtype), x - ulp(x, dtype) / 2}) {
      values.push_back(near);
      values.push_back(-near);
    }
  }
  return sort_and_deduplicate(std::move(values), dtype);
}

Reals powers_of_two_and_neighbours(tenon_dtype dtype) {
  Reals values = {0};
  for (int bits = 0; bits <= 64; ++bits) {
    for (const Real beside : {Real(0), Real(1), Real(-1), Real(0.5), Real(-0.5)}) {
      values.push_back(real_scale(1, bits) + beside);
      values.push_back(-values.back());
    }
    if (!is_float(dtype)) continue;
    const Real power = real_scale(1, bits);
    for (const Real near : {power + ulp(power, dtype), power - ulp(power, dtype) / 2}) {
      values.push_back(near);
      values.push_back(-near);
    }
  }
  return sort_and_deduplicate(std::move(values), dtype);
}

Reals Operand::values() const {
  if (absent) return {};
  const auto n = scalar ? size_t{1} : static_cast<size_t>(count_of(shape));
  Reals result;
  result.reserve(n);
  Engine engine(fill.seed * 0x9e3779b97f4a7c15ull + 1);
  const Reals special = fill.kind == Fill::Kind::kSpecial ? special_values(dtype) : Reals();
  for (size_t i = 0; i < n; ++i) {
    switch (fill.kind) {
      case Fill::Kind::kValues:
        result.push_back(fill.values.at(i));
        break;
      case Fill::Kind::kUniform:
        result.push_back(uniform(engine, fill.low, fill.high, dtype));
        break;
      case Fill::Kind::kWhole:
        result.push_back(integer_element(fill, i));
        break;
      case Fill::Kind::kSpecial:
        // First each special value once, beginning with one that depends on the seed; then random
        // special values.
        result.push_back(i < special.size() ? special[(i + fill.seed) % special.size()]
                                            : special[engine() % special.size()]);
        break;
      case Fill::Kind::kBits:
        result.push_back(random_bits(engine, dtype));
        break;
      case Fill::Kind::kMagnitudes:
        result.push_back(random_magnitude(engine, dtype));
        break;
    }
  }
  if (!scalar) {
    for (Real& x : result) x = rounded(x, dtype);
  }
  if (layout == Layout::kRepeated && !scalar && n > 0 && !shape.empty()) {
    // Repeat the first value along the last axis.
    const auto row = static_cast<size_t>(shape.back());
    for (size_t i = 0; i < n; ++i) result[i] = result[i / row * row];
  }
  return result;
}

}  // namespace tenon_kit
