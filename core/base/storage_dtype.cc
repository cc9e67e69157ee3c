#include "core/base/storage_dtype.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon {

const StorageFormat& storage_format(DType dtype) {
  // Mantissa bits, bias, sign, greatest, overflow, NaN, whether 0 has no sign.
  static constexpr StorageFormat kE4M3FN = {3, 7, 0x80, 0x7e, 0x7f, 0x7f, false};
  static constexpr StorageFormat kE4M3FNUZ = {3, 8, 0x80, 0x7f, 0x80, 0x80, true};
  static constexpr StorageFormat kE5M2 = {2, 15, 0x80, 0x7b, 0x7c, 0x7e, false};
  static constexpr StorageFormat kE5M2FNUZ = {2, 16, 0x80, 0x7f, 0x80, 0x80, true};
  static constexpr StorageFormat kE8M0FNU = {0, 127, 0, 0xfe, 0xff, 0xff, false};
  // This format has no NaN, which is converted to -0.
  static constexpr StorageFormat kE2M1FN = {1, 1, 0x8, 0x7, 0x7, 0x8, false};
  switch (dtype) {
    case DType::kF8E4M3FN:
      return kE4M3FN;
    case DType::kF8E4M3FNUZ:
      return kE4M3FNUZ;
    case DType::kF8E5M2:
      return kE5M2;
    case DType::kF8E5M2FNUZ:
      return kE5M2FNUZ;
    case DType::kF8E8M0FNU:
      return kE8M0FNU;
    default:
      return kE2M1FN;
  }
}

StorageRange storage_range(DType dtype) {
  switch (dtype) {
    case DType::kI4:
      return {-8, 7};
    case DType::kU4:
      return {0, 15};
    case DType::kI2:
      return {-2, 1};
    default:
      return {0, 3};
  }
}

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Returns the value of a code without its sign bit.
double magnitude(uint8_t code, const StorageFormat& f) {
  const int exponent = code >> f.mantissa_bits;
  const int mantissa = code & ((1 << f.mantissa_bits) - 1);
  if (f.sign == 0) return std::ldexp(1.0, exponent - f.bias);
  if (exponent == 0) return std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
  return std::ldexp(mantissa + (1 << f.mantissa_bits), exponent - f.bias - f.mantissa_bits);
}

double decode_float(uint8_t code, DType dtype) {
  const StorageFormat& f = storage_format(dtype);
  if (dtype == DType::kF4E2M1FN) code &= 0xf;
  if (f.unsigned_zero && code == f.sign) return kNaN;
  const auto rest = static_cast<uint8_t>(code & ~f.sign);
  double value = magnitude(rest, f);
  if (rest > f.greatest) value = f.overflow != f.nan && rest == f.overflow ? INFINITY : kNaN;
  return code & f.sign ? -value : value;
}

uint8_t encode_float(double value, DType dtype) {
  const StorageFormat& f = storage_format(dtype);
  if (std::isnan(value)) return f.nan;
  const uint8_t sign = std::signbit(value) ? f.sign : 0;
  if (f.sign == 0 && value < 0) return f.nan;
  // Finds the nearest code by bisection; the codes of positive values increase with the value.
  const double wanted = std::fabs(value);
  int low = 0, high = f.greatest;
  while (low < high) {
    const int middle = (low + high) / 2;
    const double tie = (magnitude(static_cast<uint8_t>(middle), f) +
                        magnitude(static_cast<uint8_t>(middle + 1), f)) /
                       2;
    const bool is_above = wanted > tie || (wanted == tie && (middle % 2 == 1 || f.sign == 0));
    (is_above ? low : high) = is_above ? middle + 1 : middle;
  }
  if (low == 0 && f.unsigned_zero) return 0;
  return static_cast<uint8_t>(low | sign);
}

}  // namespace

double decode_storage(uint8_t code, DType dtype) {
  if (is_storage_float(dtype)) return decode_float(code, dtype);
  const auto [least, greatest] = storage_range(dtype);
  const int64_t n = greatest - least + 1, low_bits = code & (n - 1);
  return static_cast<double>(low_bits > greatest ? low_bits - n : low_bits);
}

uint8_t encode_storage(double value, DType dtype) {
  if (is_storage_float(dtype)) return encode_float(value, dtype);
  const auto [least, greatest] = storage_range(dtype);
  if (std::isnan(value)) return 0;
  const double whole =
      std::trunc(std::clamp(value, static_cast<double>(least), static_cast<double>(greatest)));
  return static_cast<uint8_t>(static_cast<int64_t>(whole) & (greatest - least));
}

size_t packed_elements_per_byte(DType dtype) {
  const size_t bits = TENON_DTYPE_BITS(to_c(dtype));
  return bits == 0 || bits >= 8 ? 1 : 8 / bits;
}

uint64_t packed_size(uint64_t n, DType dtype) {
  const uint64_t per_byte = packed_elements_per_byte(dtype);
  return (n * size_of(dtype) + per_byte - 1) / per_byte;
}

std::vector<std::byte> pack_elements(std::span<const std::byte> elements, DType dtype) {
  const size_t per_byte = packed_elements_per_byte(dtype), bits = 8 / per_byte;
  if (per_byte == 1) return {elements.begin(), elements.end()};
  std::vector<std::byte> bytes((elements.size() + per_byte - 1) / per_byte);
  const std::byte mask{static_cast<unsigned char>((1 << bits) - 1)};
  for (size_t i = 0; i < elements.size(); ++i) {
    bytes[i / per_byte] |= (elements[i] & mask) << (i % per_byte * bits);
  }
  return bytes;
}

std::vector<std::byte> unpack_elements(std::span<const std::byte> bytes, size_t n, DType dtype) {
  const size_t per_byte = packed_elements_per_byte(dtype), bits = 8 / per_byte;
  if (per_byte == 1) return {bytes.begin(), bytes.end()};
  std::vector<std::byte> elements(n);
  const std::byte mask{static_cast<unsigned char>((1 << bits) - 1)};
  for (size_t i = 0; i < n; ++i) {
    elements[i] = bytes[i / per_byte] >> (i % per_byte * bits) & mask;
  }
  return elements;
}

}  // namespace tenon
