// Element types and the corresponding C++ types.

#pragma once

#include <tenon/tenon.h>

#include <string>
#include <type_traits>

namespace tenon {

class DType {
 public:
  constexpr DType(tenon_dtype code = TENON_DTYPE_NONE) : code_(code) {}
  constexpr operator tenon_dtype() const { return code_; }

  constexpr bool is_floating() const {
    return TENON_DTYPE_CODE(code_) == TENON_CODE_FLOAT ||
           TENON_DTYPE_CODE(code_) == TENON_CODE_BFLOAT;
  }

  // Whether tensors can hold, move and convert elements of this dtype, but ops do not compute with
  // them.
  constexpr bool is_storage() const {
    return TENON_DTYPE_BITS(code_) < 8 ? code_ != TENON_DTYPE_NONE
                                       : TENON_DTYPE_CODE(code_) >= TENON_CODE_FLOAT8_E4M3FN;
  }

  // The name used in messages: f32, bf16, i64, u8, bool.
  std::string str() const {
    switch (TENON_DTYPE_CODE(code_)) {
      case TENON_CODE_BOOL:
        return "bool";
      case TENON_CODE_INT:
        return code_ == TENON_DTYPE_NONE ? "none" : "i" + bits();
      case TENON_CODE_UINT:
        return "u" + bits();
      case TENON_CODE_BFLOAT:
        return "bf" + bits();
      case TENON_CODE_FLOAT8_E4M3FN:
        return "f8e4m3fn";
      case TENON_CODE_FLOAT8_E4M3FNUZ:
        return "f8e4m3fnuz";
      case TENON_CODE_FLOAT8_E5M2:
        return "f8e5m2";
      case TENON_CODE_FLOAT8_E5M2FNUZ:
        return "f8e5m2fnuz";
      case TENON_CODE_FLOAT8_E8M0FNU:
        return "f8e8m0fnu";
      case TENON_CODE_FLOAT4_E2M1FN:
        return "f4e2m1fn";
      default:
        return "f" + bits();
    }
  }

 private:
  // Returns the number of bits of an element, as text.
  std::string bits() const { return std::to_string(TENON_DTYPE_BITS(code_)); }

  tenon_dtype code_;
};

inline constexpr DType kBool = TENON_BOOL;
inline constexpr DType kInt8 = TENON_INT8;
inline constexpr DType kInt16 = TENON_INT16;
inline constexpr DType kInt32 = TENON_INT32;
inline constexpr DType kInt64 = TENON_INT64;
inline constexpr DType kUint8 = TENON_UINT8;
inline constexpr DType kUint16 = TENON_UINT16;
inline constexpr DType kUint32 = TENON_UINT32;
inline constexpr DType kUint64 = TENON_UINT64;
inline constexpr DType kFloat16 = TENON_FLOAT16;
inline constexpr DType kBfloat16 = TENON_BFLOAT16;
inline constexpr DType kFloat32 = TENON_FLOAT32;
inline constexpr DType kFloat64 = TENON_FLOAT64;
inline constexpr DType kFloat128 = TENON_FLOAT128;
inline constexpr DType kInt4 = TENON_INT4;
inline constexpr DType kUint4 = TENON_UINT4;
inline constexpr DType kInt2 = TENON_INT2;
inline constexpr DType kUint2 = TENON_UINT2;
inline constexpr DType kFloat8E4M3Fn = TENON_FLOAT8_E4M3FN;
inline constexpr DType kFloat8E4M3Fnuz = TENON_FLOAT8_E4M3FNUZ;
inline constexpr DType kFloat8E5M2 = TENON_FLOAT8_E5M2;
inline constexpr DType kFloat8E5M2Fnuz = TENON_FLOAT8_E5M2FNUZ;
inline constexpr DType kFloat8E8M0Fnu = TENON_FLOAT8_E8M0FNU;
inline constexpr DType kFloat4E2M1Fn = TENON_FLOAT4_E2M1FN;

// The dtype of the C++ type T, which is bool, an integer type, float or double.
template <class T>
requires(std::is_arithmetic_v<T> && !std::is_same_v<T, long double>) constexpr DType dtype_of() {
  if (std::is_same_v<T, bool>) return kBool;
  const unsigned code = std::is_floating_point_v<T> ? TENON_CODE_FLOAT
                        : std::is_signed_v<T>       ? TENON_CODE_INT
                                                    : TENON_CODE_UINT;
  return TENON_DTYPE(code, sizeof(T) * 8, 1);
}

}  // namespace tenon
