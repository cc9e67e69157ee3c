#include "conformance/kit/dtypes.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "plugins/sdk/dtype.h"

namespace tenon_kit {
namespace {

using tenon_sdk::BFloat16;
using tenon_sdk::Half;

constexpr DTypeFacts kFacts[] = {
    {"bool", TENON_BOOL, 1},
    {"i8", TENON_INT8, 1},
    {"i16", TENON_INT16, 2},
    {"i32", TENON_INT32, 4},
    {"i64", TENON_INT64, 8},
    {"u8", TENON_UINT8, 1},
    {"u16", TENON_UINT16, 2},
    {"u32", TENON_UINT32, 4},
    {"u64", TENON_UINT64, 8},
    {"f16", TENON_FLOAT16, 2, 11, -14, 15},
    {"bf16", TENON_BFLOAT16, 2, 8, -126, 127},
    {"f32", TENON_FLOAT32, 4, 24, -126, 127},
    {"f64", TENON_FLOAT64, 8, 53, -1022, 1023},
    {"f128", TENON_FLOAT128, 16, 113, -16382, 16383},
};

int integer_bits(tenon_dtype dtype) { return static_cast<int>(TENON_DTYPE_BITS(dtype)); }

template <class T>
void store(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

template <class T>
Real load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<Real>(value);
}

void encode_one(Real x, tenon_dtype dtype, std::byte* to) {
  switch (dtype) {
    case TENON_BOOL:
      return store(static_cast<uint8_t>(x != 0), to);
    case TENON_INT8:
      return store(static_cast<int8_t>(x), to);
    case TENON_INT16:
      return store(static_cast<int16_t>(x), to);
    case TENON_INT32:
      return store(static_cast<int32_t>(x), to);
    case TENON_INT64:
      return store(static_cast<int64_t>(x), to);
    case TENON_UINT8:
      return store(static_cast<uint8_t>(x), to);
    case TENON_UINT16:
      return store(static_cast<uint16_t>(x), to);
    case TENON_UINT32:
      return store(static_cast<uint32_t>(x), to);
    case TENON_UINT64:
      return store(static_cast<uint64_t>(x), to);
    case TENON_FLOAT16:
      return store(Half(static_cast<float>(x)).bits, to);
    case TENON_BFLOAT16:
      return store(BFloat16(static_cast<float>(x)).bits, to);
    case TENON_FLOAT32:
      return store(static_cast<float>(x), to);
    case TENON_FLOAT64:
      return store(static_cast<double>(x), to);
    default:
      return store(x, to);
  }
}

Real decode_one(const std::byte* from, tenon_dtype dtype) {
  switch (dtype) {
    case TENON_BOOL:
      return load<uint8_t>(from) != 0 ? 1 : 0;
    case TENON_INT8:
      return load<int8_t>(from);
    case TENON_INT16:
      return load<int16_t>(from);
    case TENON_INT32:
      return load<int32_t>(from);
    case TENON_INT64:
      return load<int64_t>(from);
    case TENON_UINT8:
      return load<uint8_t>(from);
    case TENON_UINT16:
      return load<uint16_t>(from);
    case TENON_UINT32:
      return load<uint32_t>(from);
    case TENON_UINT64:
      return load<uint64_t>(from);
    case TENON_FLOAT16:
    case TENON_BFLOAT16: {
      uint16_t bits;
      std::memcpy(&bits, from, sizeof bits);
      return dtype == TENON_FLOAT16 ? tenon_sdk::half_value(bits) : tenon_sdk::bfloat16_value(bits);
    }
    case TENON_FLOAT32:
      return load<float>(from);
    case TENON_FLOAT64:
      return load<double>(from);
    default:
      return load<Real>(from);
  }
}

}  // namespace

std::span<const DTypeFacts> all_dtypes() {
  return std::span<const DTypeFacts>(kFacts).first(std::size(kFacts) - 1);
}

const DTypeFacts& facts(tenon_dtype dtype) {
  for (const DTypeFacts& f : kFacts) {
    if (f.code == dtype) return f;
  }
  throw std::invalid_argument(fmt::format("no dtype has the code {:#x}", dtype));
}

tenon_dtype dtype_named(std::string_view name) {
  for (const DTypeFacts& f : kFacts) {
    if (f.name == name) return f.code;
  }
  if (name == "none") return TENON_DTYPE_NONE;
  throw std::invalid_argument(fmt::format("unknown dtype \"{}\"", name));
}

// Returns the dtype in which the oracle computes results of `dtype`.
tenon_dtype widen(tenon_dtype dtype) {
  if (!is_float(dtype) || dtype == TENON_FLOAT128) return dtype;
  return dtype == TENON_FLOAT64 ? TENON_FLOAT128 : TENON_FLOAT64;
}

// Returns the smallest finite value of the dtype, the most negative one.
Real least(tenon_dtype dtype) {
  if (is_bool(dtype)) return 0;
  if (is_integer(dtype)) {
    return is_signed(dtype) ? -real_power(integer_bits(dtype) - 1) : Real(0);
  }
  return -greatest(dtype);
}

// Returns the largest finite value of the dtype.
Real greatest(tenon_dtype dtype) {
  if (is_bool(dtype)) return 1;
  if (is_integer(dtype)) {
    return real_power(integer_bits(dtype) - (is_signed(dtype) ? 1 : 0)) - 1;
  }
  const DTypeFacts& f = facts(dtype);
  return (2 - real_power(1 - f.precision)) * real_power(f.greatest_exponent);
}

// Returns the distance between adjacent values of the dtype at x.
Real ulp(Real x, tenon_dtype dtype) {
  if (!is_float(dtype)) return 1;
  const DTypeFacts& f = facts(dtype);
  int exponent = f.least_exponent;
  if (x != 0 && real_is_finite(x)) exponent = std::max(exponent, real_exponent(x));
  return real_power(std::min(exponent, f.greatest_exponent) - f.precision + 1);
}

// Rounds x to the nearest value of the dtype.
Real rounded(Real x, tenon_dtype dtype) {
  if (dtype == TENON_FLOAT32) return static_cast<float>(x);
  if (dtype == TENON_FLOAT64) return static_cast<double>(x);
  if (is_bool(dtype)) return x != 0 ? 1 : 0;
  if (is_integer(dtype)) {
    if (real_is_nan(x)) return 0;
    if (x <= least(dtype)) return least(dtype);
    return x >= greatest(dtype) ? greatest(dtype) : real_rint(x);
  }
  if (!real_is_finite(x) || x == 0) return x;
  const Real unit = ulp(x, dtype);
  const Real nearest = real_rint(x / unit) * unit;
  if (real_abs(nearest) <= greatest(dtype)) return nearest;
  return real_sign(x) ? -Real(INFINITY) : Real(INFINITY);
}

std::vector<std::byte> encode(const Reals& values, tenon_dtype dtype) {
  const size_t size = facts(dtype).size;
  std::vector<std::byte> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) encode_one(values[i], dtype, &bytes[i * size]);
  return bytes;
}

Reals decode(std::span<const std::byte> bytes, tenon_dtype dtype) {
  const size_t size = facts(dtype).size;
  Reals values(bytes.size() / size);
  for (size_t i = 0; i < values.size(); ++i) values[i] = decode_one(&bytes[i * size], dtype);
  return values;
}

// Formats a number as in JSON and messages.
std::string text(Real x) {
  if (real_is_nan(x)) return "nan";
  if (real_is_inf(x)) return x < 0 ? "-inf" : "inf";
  if (x == real_rint(x) && real_abs(x) < real_scale(1, 63)) {
    if (x == 0 && real_sign(x)) return "-0";
    return fmt::format("{}", static_cast<int64_t>(x));
  }
  return fmt::format("{}", static_cast<double>(x));
}

}  // namespace tenon_kit
