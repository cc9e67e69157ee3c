// Maps dtypes to the names that safetensors files use for them, and back.
//
// For the storage dtypes that the format lacks, files hold a tensor of packed bytes, and the type
// of the tensor is an entry of the metadata: "tenon.type.NAME": "i4[3,5]".

#pragma once

#include <string_view>

#include "core/base/dtype.h"

namespace tenon {

inline constexpr std::string_view kSafetensorsDTypes[kDTypeCount] = {
    "",    "BOOL",    "I8",   "I16",     "I32", "I64",     "U8", "U16", "U32",
    "U64", "F16",     "BF16", "F32",     "F64", "",        "",   "",    "",
    "",    "F8_E4M3", "",     "F8_E5M2", "",    "F8_E8M0", ""};

// The key of a header's metadata.
inline constexpr const char* kMetadata = "__metadata__";
inline constexpr std::string_view kTypeKey = "tenon.type.";

// Returns the safetensors name of a dtype; empty if the format does not have that dtype.
inline std::string_view safetensors_name(DType dtype) {
  return kSafetensorsDTypes[static_cast<size_t>(dtype)];
}

// Returns the dtype with a safetensors name; kNone if the name is unknown.
inline DType dtype_from_safetensors(std::string_view name) {
  for (size_t i = 1; i < kDTypeCount; ++i) {
    if (!name.empty() && kSafetensorsDTypes[i] == name) return static_cast<DType>(i);
  }
  return DType::kNone;
}

}  // namespace tenon
