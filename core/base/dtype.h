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
  // Storage dtypes: tensors can hold, move and convert their elements, but no op computes with
  // them. Each element occupies one byte (design/0045).
  kI4,
  kU4,
  kI2,
  kU2,
  kF8E4M3FN,
  kF8E4M3FNUZ,
  kF8E5M2,
  kF8E5M2FNUZ,
  kF8E8M0FNU,
  kF4E2M1FN,
};

inline constexpr size_t kDTypeCount = 25;

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
    {"i4", "int4", TENON_INT4, 1},
    {"u4", "uint4", TENON_UINT4, 1},
    {"i2", "int2", TENON_INT2, 1},
    {"u2", "uint2", TENON_UINT2, 1},
    {"f8e4m3fn", "float8_e4m3fn", TENON_FLOAT8_E4M3FN, 1},
    {"f8e4m3fnuz", "float8_e4m3fnuz", TENON_FLOAT8_E4M3FNUZ, 1},
    {"f8e5m2", "float8_e5m2", TENON_FLOAT8_E5M2, 1},
    {"f8e5m2fnuz", "float8_e5m2fnuz", TENON_FLOAT8_E5M2FNUZ, 1},
    {"f8e8m0fnu", "float8_e8m0fnu", TENON_FLOAT8_E8M0FNU, 1},
    {"f4e2m1fn", "float4_e2m1fn", TENON_FLOAT4_E2M1FN, 1},
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

// These predicates are false for storage dtypes.
inline bool is_floating(DType d) { return d >= DType::kF16 && d <= DType::kF128; }
inline bool is_signed_integer(DType d) { return d >= DType::kI8 && d <= DType::kI64; }
inline bool is_unsigned_integer(DType d) { return d >= DType::kU8 && d <= DType::kU64; }
inline bool is_integer(DType d) { return d >= DType::kI8 && d <= DType::kU64; }
inline bool is_numeric(DType d) { return d >= DType::kI8 && d <= DType::kF128; }

inline bool is_storage(DType d) { return d >= DType::kI4; }
inline bool is_storage_integer(DType d) { return d >= DType::kI4 && d <= DType::kU2; }
inline bool is_storage_float(DType d) { return d >= DType::kF8E4M3FN; }

// Returns the dtype to which the array API standard promotes `a` and `b`. Returns kNone if the
// standard defines none: for different kinds of dtypes, and for uint64 with a signed integer.
DType promote(DType a, DType b);

}  // namespace tenon
