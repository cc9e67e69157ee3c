// Element types. The core represents a dtype by a small index, the C ABI by {code, bits, lanes}.

#pragma once

#include <tenon/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tenon {

enum class DType : uint8_t {
  kNone,  // Not specified, or an absent operand.
  kBool,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kF128,
};

inline constexpr size_t kDTypeCount = 15;

namespace detail {

struct DTypeInfo {
  const char* name;
  const char* numpy_name;
  tenon_dtype c;
  uint8_t size;  // Size in bytes.
};

inline constexpr DTypeInfo kDTypes[kDTypeCount] = {
    {"none", "none", TENON_DTYPE_NONE, 0},
    {"bool", "bool", TENON_BOOL, 1},
    {"i8", "int8", TENON_INT8, 1},
    {"i16", "int16", TENON_INT16, 2},
    {"i32", "int32", TENON_INT32, 4},
    {"i64", "int64", TENON_INT64, 8},
    {"u8", "uint8", TENON_UINT8, 1},
    {"u16", "uint16", TENON_UINT16, 2},
    {"u32", "uint32", TENON_UINT32, 4},
    {"u64", "uint64", TENON_UINT64, 8},
    {"f16", "float16", TENON_FLOAT16, 2},
    {"bf16", "bfloat16", TENON_BFLOAT16, 2},
    {"f32", "float32", TENON_FLOAT32, 4},
    {"f64", "float64", TENON_FLOAT64, 8},
    {"f128", "float128", TENON_FLOAT128, 16},
};

}  // namespace detail

inline size_t size_of(DType dtype) { return detail::kDTypes[static_cast<size_t>(dtype)].size; }
inline std::string_view name_of(DType dtype) {
  return detail::kDTypes[static_cast<size_t>(dtype)].name;
}
inline std::string_view numpy_name_of(DType dtype) {
  return detail::kDTypes[static_cast<size_t>(dtype)].numpy_name;
}
inline tenon_dtype to_c(DType dtype) { return detail::kDTypes[static_cast<size_t>(dtype)].c; }

// Converts a dtype of the C ABI. Returns kNone for TENON_DTYPE_NONE and for unknown dtypes. Sets
// `known`, if it is given, to false for unknown dtypes and to true otherwise.
DType dtype_from_c(tenon_dtype c, bool* known = nullptr);

// Returns the dtype of that name; kNone for an unknown name.
DType dtype_from_name(std::string_view name);

inline bool is_floating(DType d) { return d >= DType::kF16; }
inline bool is_signed_integer(DType d) { return d >= DType::kI8 && d <= DType::kI64; }
inline bool is_unsigned_integer(DType d) { return d >= DType::kU8 && d <= DType::kU64; }
inline bool is_integer(DType d) { return d >= DType::kI8 && d <= DType::kU64; }
inline bool is_numeric(DType d) { return d >= DType::kI8; }

// Returns the dtype to which the array API standard promotes `a` and `b`. Returns kNone if the
// standard defines none: for different kinds of dtypes, and for uint64 with a signed integer.
DType promote(DType a, DType b);

}  // namespace tenon
