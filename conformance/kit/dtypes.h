// Dtypes as the kit sees them: what they are called, which values they hold, and how far apart
// those lie.

#pragma once

#include <tenon/plugin.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/kit/real.h"

namespace tenon_kit {

struct DTypeFacts {
  const char* name;
  tenon_dtype code;
  size_t size;
  // Of floats: the bits of the significand with the one that is not written, and the exponents of
  // the least normal number and of the greatest one.
  int precision = 0;
  int least_exponent = 0;
  int greatest_exponent = 0;
};

// bool, the integers, then the floats that devices offer.
std::span<const DTypeFacts> all_dtypes();
const DTypeFacts& facts(tenon_dtype dtype);  // float128 too. Throws for an unknown one.
tenon_dtype dtype_named(std::string_view name);
inline std::string name_of(tenon_dtype dtype) { return facts(dtype).name; }

inline bool is_float(tenon_dtype dtype) {
  const uint32_t code = TENON_DTYPE_CODE(dtype);
  return code == TENON_CODE_FLOAT || code == TENON_CODE_BFLOAT;
}
inline bool is_bool(tenon_dtype dtype) { return dtype == TENON_BOOL; }
inline bool is_signed(tenon_dtype dtype) { return TENON_DTYPE_CODE(dtype) == TENON_CODE_INT; }
inline bool is_integer(tenon_dtype dtype) {
  return is_signed(dtype) || TENON_DTYPE_CODE(dtype) == TENON_CODE_UINT;
}

// The dtype in which an oracle computes for it: float64, or float128 for float64.
tenon_dtype widened(tenon_dtype dtype);

// The least and the greatest finite value.
Real least(tenon_dtype dtype);
Real greatest(tenon_dtype dtype);

// The distance of the values around x, at least that of the least normal numbers.
Real ulp(Real x, tenon_dtype dtype);

// The nearest value of the dtype, ties to even; beyond the greatest by half an ulp, infinity.
// Integers saturate, and NaN is 0.
Real rounded(Real x, tenon_dtype dtype);

// Elements to bytes, which must be values of the dtype, and back.
std::vector<std::byte> encode(const Reals& values, tenon_dtype dtype);
Reals decode(std::span<const std::byte> bytes, tenon_dtype dtype);

// As JSON and messages have it: shortest for a double, or nan, inf, -inf.
std::string text(Real x);

}  // namespace tenon_kit
