// The names of element types in files.

#pragma once

#include <string_view>

#include "core/base/dtype.h"

namespace tenon {

inline constexpr std::string_view kSafetensorsDTypes[kDTypeCount] = {
    "",    "BOOL", "I8",  "I16",  "I32", "I64", "U8", "U16",
    "U32", "U64",  "F16", "BF16", "F32", "F64", ""};

// Returns an empty name if the format has no such type.
inline std::string_view safetensors_name(DType dtype) {
  return kSafetensorsDTypes[static_cast<size_t>(dtype)];
}

// Returns kNone for an unknown name.
inline DType dtype_from_safetensors(std::string_view name) {
  for (size_t i = 1; i < kDTypeCount; ++i) {
    if (!name.empty() && kSafetensorsDTypes[i] == name) return static_cast<DType>(i);
  }
  return DType::kNone;
}

}  // namespace tenon
