#include "plugins/cuda/kernels/device_code.h"

namespace tenon_cuda {

std::string_view device_file(std::string_view name) {
  for (size_t i = 0; i < kDeviceFileCount; ++i) {
    if (kDeviceFiles[i].name == name) return kDeviceFiles[i].text;
  }
  return {};
}

const char* type_name(tenon_dtype dtype) {
  switch (dtype) {
    case TENON_BOOL:
      return "Bool";
    case TENON_INT8:
      return "i8";
    case TENON_INT16:
      return "i16";
    case TENON_INT32:
      return "i32";
    case TENON_INT64:
      return "i64";
    case TENON_UINT8:
      return "u8";
    case TENON_UINT16:
      return "u16";
    case TENON_UINT32:
      return "u32";
    case TENON_UINT64:
      return "u64";
    case TENON_FLOAT16:
      return "Half";
    case TENON_BFLOAT16:
      return "BFloat16";
    case TENON_FLOAT32:
      return "float";
    case TENON_FLOAT64:
      return "double";
    default:
      return nullptr;
  }
}

// Returns the unsigned integer type that has the dtype's element size.
const char* bits_type_name(tenon_dtype dtype) {
  switch (tenon_sdk::size_of(dtype)) {
    case 1:
      return "u8";
    case 2:
      return "u16";
    case 4:
      return "u32";
    case 8:
      return "u64";
    default:
      return "Wide16";
  }
}

}  // namespace tenon_cuda
