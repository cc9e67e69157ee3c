// Where values come from: drawn evenly, from the special ones of a dtype, from all its bits, or
// over all its magnitudes.

#include <algorithm>
#include <random>
#include <stdexcept>

#include "conformance/kit/problem.h"

namespace tenon_kit {
namespace {

using Engine = std::mt19937_64;

Real unit(Engine& engine) { return real_scale(static_cast<Real>(engine() >> 11), -53); }

Real uniform(Engine& engine, double low, double high, tenon_dtype dtype) {
  const Real value = low + (static_cast<Real>(high) - low) * unit(engine);
  if (is_float(dtype)) return value;
  const Real whole = real_rint(value - Real(0.5));
  return std::min<Real>(whole, static_cast<Real>(high) - 1);
}

// Zeros, ones, the ends of the range, what lies beside them, and what is no number.
Reals specials(tenon_dtype dtype) {
  if (is_bool(dtype)) return {0, 1};
  if (is_integer(dtype)) {
    const Real bits = static_cast<int>(8 * facts(dtype).size);  // Distances of shifts, too.
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

// Any bits: every kind of number, subnormal ones and NaN too, as often as their bits are many.
Real from_bits(Engine& engine, tenon_dtype dtype) {
  const uint64_t bits[2] = {engine(), engine()};
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(bits),
                                         facts(dtype).size);
  return decode(bytes, dtype)[0];
}

// Of either sign, with exponents drawn evenly: small, large and in between.
Real magnitude(Engine& engine, tenon_dtype dtype) {
  if (!is_float(dtype)) return from_bits(engine, dtype);
  const DTypeFacts& f = facts(dtype);
  const Real exponents = f.greatest_exponent - f.least_exponent;
  const int exponent = f.least_exponent + static_cast<int>(unit(engine) * exponents);
  const Real value = real_scale(1 + unit(engine), exponent);
  return (engine() & 1) != 0 ? -value : value;
}

}  // namespace

Reals Operand::values() const {
  if (absent) return {};
  const auto n = scalar ? size_t{1} : static_cast<size_t>(count_of(shape));
  Reals result;
  result.reserve(n);
  Engine engine(fill.seed * 0x9e3779b97f4a7c15ull + 1);
  const Reals special = fill.kind == Fill::Kind::kSpecial ? specials(dtype) : Reals();
  for (size_t i = 0; i < n; ++i) {
    switch (fill.kind) {
      case Fill::Kind::kValues:
        result.push_back(fill.values.at(i));
        break;
      case Fill::Kind::kUniform:
        result.push_back(uniform(engine, fill.low, fill.high, dtype));
        break;
      case Fill::Kind::kSpecial:
        // Each of them once, in an order of its own, then any.
        result.push_back(i < special.size() ? special[(i + fill.seed) % special.size()]
                                            : special[engine() % special.size()]);
        break;
      case Fill::Kind::kBits:
        result.push_back(from_bits(engine, dtype));
        break;
      case Fill::Kind::kMagnitudes:
        result.push_back(magnitude(engine, dtype));
        break;
    }
  }
  if (!scalar) {
    for (Real& x : result) x = rounded(x, dtype);
  }
  if (layout == Layout::kRepeated && !scalar && n > 0 && !shape.empty()) {
    // Along the last axis all are the first.
    const auto row = static_cast<size_t>(shape.back());
    for (size_t i = 0; i < n; ++i) result[i] = result[i / row * row];
  }
  return result;
}

}  // namespace tenon_kit
