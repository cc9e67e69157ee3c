// Names, values and spacing of dtypes.

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
  // For floats: the bits of the significand including the implicit one, and the exponents of the
  // smallest normal number and of the largest number.
  int precision = 0;
  int least_exponent = 0;
  int greatest_exponent = 0;
};

// bool, the integers, then the floats that devices support.
std::span<const DTypeFacts> all_dtypes();
const DTypeFacts& facts(tenon_dtype dtype);  // Also float128. Throws if unknown.
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

// The dtype in which the oracle computes results of this dtype: float64, or float128 for float64.
tenon_dtype widened(tenon_dtype dtype);

// The smallest and the largest finite value.
Real least(tenon_dtype dtype);
Real greatest(tenon_dtype dtype);

// The distance between adjacent values at x, at least that of subnormal numbers.
Real ulp(Real x, tenon_dtype dtype);

// The nearest value of the dtype, ties to even. Half an ulp above the largest value and more
// becomes infinity. Integers saturate, and NaN becomes 0.
Real rounded(Real x, tenon_dtype dtype);

// Converts elements, which must be values of the dtype, to bytes and back.
std::vector<std::byte> encode(const Reals& values, tenon_dtype dtype);
Reals decode(std::span<const std::byte> bytes, tenon_dtype dtype);

// Text as in JSON and messages: the shortest for a double, or nan, inf, -inf.
std::string text(Real x);

}  // namespace tenon_kit
