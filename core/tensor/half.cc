// float16, bfloat16 and float128 in their bit representation. Conversions round once, ties to even.

#include <cmath>
#include <cstring>

#include "core/tensor/tensor.h"

namespace tenon {
namespace {

// Returns the bits of a float.
uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Returns the float that has these bits.
float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Rounds to odd: if `value` is not a float, returns the adjacent float whose last bit is set.
// Rounding that to a type of fewer bits gives the same result as rounding `value` directly.
float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  const uint32_t bits = bits_of(nearest);
  if (back == value || value != value || (bits & 1) != 0) return nearest;
  return float_of(std::fabs(back) > std::fabs(value) ? bits - 1 : bits + 1);
}

}  // namespace

float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t fraction = bits & 0x3ff;
  if (exponent == 0x1f) return float_of(sign | 0x7f800000 | fraction << 13);
  if (exponent != 0) return float_of(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
  return sign ? -magnitude : magnitude;
}

uint16_t float_to_half(float value) {
  const uint32_t bits = bits_of(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;   // NaN.
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // From 65520, the nearest is infinity.
  if (magnitude < 0x38800000) {
    // Subnormal results are multiples of 2^-24, which is the spacing of floats just above 0.5.
    const float shifted = float_of(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(bits_of(shifted) - bits_of(0.5f));
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return sign | static_cast<uint16_t>((rounded - 0x38000000) >> 13);
}

float bfloat16_to_float(uint16_t bits) { return float_of(static_cast<uint32_t>(bits) << 16); }

uint16_t float_to_bfloat16(float value) {
  const uint32_t bits = bits_of(value);
  if (value != value) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t double_to_half(double value) { return float_to_half(round_to_odd(value)); }

uint16_t double_to_bfloat16(double value) { return float_to_bfloat16(round_to_odd(value)); }

// A quad has a sign, 15 exponent bits with bias 16383, and a fraction of 48 + 64 bits.
ElementBits double_to_quad(double value) {
  constexpr uint64_t kTop = 0x7fff;
  const uint64_t sign = std::signbit(value) ? uint64_t{1} << 63 : 0;
  if (value != value) return {{0, sign | kTop << 48 | uint64_t{1} << 47}};
  if (std::isinf(value)) return {{0, sign | kTop << 48}};
  if (value == 0) return {{0, sign}};
  int exponent;
  const double significand = std::frexp(std::fabs(value), &exponent);  // In [0.5, 1).
  const auto bits = static_cast<uint64_t>(std::ldexp(significand, 53));
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const auto biased = static_cast<uint64_t>(exponent - 1 + 16383);
  return {{fraction << 60, sign | biased << 48 | fraction >> 4}};
}

double quad_to_double(ElementBits quad) {
  const auto [low, high] = quad.words;
  const double sign = high >> 63 ? -1 : 1;
  const auto exponent = static_cast<int>(high >> 48 & 0x7fff);
  const uint64_t fraction = high & ((uint64_t{1} << 48) - 1);
  if (exponent == 0x7fff) return fraction | low ? NAN : sign * INFINITY;
  // Zero or subnormal, which is far below the smallest double.
  if (exponent == 0) return sign * 0.0;
  // `lead` holds the leading 64 bits of the significand. Its last bit is also set if any omitted
  // bit is set: those bits matter only for whether the value is a tie between two doubles.
  const uint64_t lead = uint64_t{1} << 63 | fraction << 15 | low >> 49;
  const bool rest = (low & ((uint64_t{1} << 49) - 1)) != 0;
  return sign * std::ldexp(static_cast<double>(lead | (rest ? 1 : 0)), exponent - 16383 - 63);
}

}  // namespace tenon
