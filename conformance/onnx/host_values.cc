#include "conformance/onnx/host_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace tenon::conformance {
namespace {

// Decodes a 16-bit float: a sign, a biased exponent and a fraction.
double decode_16_bit_float(uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Converts the floating-point element at `at` to double.
double load_as_double(DType dtype, const std::byte* at) {
  if (dtype == kFloat64) return load<double>(at);
  if (dtype == kFloat32) return load<float>(at);
  return decode_16_bit_float(load<uint16_t>(at), dtype == kFloat16 ? 5 : 8);
}

// Formats an element, for messages.
std::string element_text(DType dtype, const std::byte* at) {
  if (dtype.is_floating()) return fmt::format("{:.9g}", load_as_double(dtype, at));
  uint64_t bits = 0;
  const unsigned size = TENON_DTYPE_SIZE(dtype);
  std::memcpy(&bits, at, size);
  if (TENON_DTYPE_CODE(dtype) != TENON_CODE_INT) return std::to_string(bits);
  const unsigned unused = 64 - 8 * size;
  return std::to_string(static_cast<int64_t>(bits << unused) >> unused);
}

std::vector<std::byte> read_elements(const Tensor& x) {
  std::vector<std::byte> bytes(x.bytes());
  check(tenon_tensor_read(current_scope(), x.get(), bytes.data(), bytes.size()));
  return bytes;
}

std::string type_of(const Tensor& x) {
  return fmt::format("{}[{}]", x.dtype().str(), fmt::join(x.shape(), ","));
}

// The distance of two floating-point elements. 0 if they are equal or both NaN; infinity if only
// one is finite or they are different infinities.
double distance(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  if (std::isfinite(got) && std::isfinite(want)) return std::abs(got - want);
  return INFINITY;
}

}  // namespace

std::string describe_difference(const Tensor& got, const Tensor& want, Tolerance tolerance) {
  if (type_of(got) != type_of(want)) {
    return fmt::format("got {}, want {}", type_of(got), type_of(want));
  }
  const DType dtype = got.dtype();
  const size_t size = TENON_DTYPE_SIZE(dtype);
  const std::vector<std::byte> a = read_elements(got), b = read_elements(want);
  const size_t n = a.size() / size;
  size_t wrong = 0, worst = 0;
  double most = -1;  // The largest excess of an error over its tolerance.
  for (size_t i = 0; i < n; ++i) {
    const std::byte *x = &a[i * size], *y = &b[i * size];
    double beyond = 0;
    if (dtype.is_floating()) {
      const double expected = load_as_double(dtype, y);
      const double allowed = tolerance.atol + tolerance.rtol * std::abs(expected);
      const double apart = distance(load_as_double(dtype, x), expected);
      if (apart == 0 || apart <= allowed) continue;
      beyond = apart - allowed;
    } else if (std::memcmp(x, y, size) == 0) {
      continue;
    }
    ++wrong;
    if (beyond > most) {
      most = beyond;
      worst = i;
    }
  }
  if (wrong == 0) return "";
  return fmt::format("{} of {} elements differ, the worst one, {}: got {}, want {}", wrong, n,
                     worst, element_text(dtype, &a[worst * size]),
                     element_text(dtype, &b[worst * size]));
}

}  // namespace tenon::conformance
