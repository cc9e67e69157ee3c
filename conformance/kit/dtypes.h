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
  // For floats: number of significand bits including the implicit one, and exponents of the
  // smallest normal and of the largest number.
  int precision = 0;
  int least_exponent = 0;
  int greatest_exponent = 0;
};

// All dtypes that devices support: bool, then the integers, then the floats.
std::span<const DTypeFacts> all_dtypes();
// Returns the facts of a dtype, which may be float128. Throws if the dtype is unknown.
const DTypeFacts& facts(tenon_dtype dtype);
// Returns the dtype with the name `name`, such as "f32"; TENON_DTYPE_NONE for "none". Throws if
// there is none.
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

// Returns the dtype in which the oracle computes results of `dtype`: float128 for float64, float64
// for narrower floats, and the same dtype for bool and integers.
tenon_dtype widen(tenon_dtype dtype);

// Returns the smallest finite value of the dtype, the most negative one.
Real least(tenon_dtype dtype);
Real greatest(tenon_dtype dtype);  // The largest finite value of the dtype.

// The distance between adjacent values of the dtype at x. Not smaller than the spacing of subnormal
// numbers.
Real ulp(Real x, tenon_dtype dtype);

// The nearest value of the dtype, ties to even. Values of at least half an ulp above the largest
// finite value become infinity. For integer dtypes, values saturate and NaN becomes 0.
Real rounded(Real x, tenon_dtype dtype);

// Converts elements to bytes and back. The elements must be values of the dtype.
std::vector<std::byte> encode(const Reals& values, tenon_dtype dtype);
Reals decode(std::span<const std::byte> bytes, tenon_dtype dtype);

// Formats a number as in JSON and messages: the shortest text that reads back as the same double,
// or nan, inf, -inf.
std::string text(Real x);

}  // namespace tenon_kit
