// Access to the source files of device/, which are embedded in the plugin, and names of the types
// in device code.

#pragma once

#include <string>
#include <string_view>

#include "plugins/sdk/dtype.h"

namespace tenon_cuda {

// Returns the contents of a file of device/.
std::string_view device_file(std::string_view name);

// Returns the name of a dtype's type in device code, such as "float" or "Half".
const char* type_name(tenon_dtype dtype);
// Returns the name of the unsigned integer type (or Wide16) with the same element size, for kernels
// that move elements without computing.
const char* bits_type_name(tenon_dtype dtype);

// Returns the decimal digits of a number.
inline std::string decimal(size_t n) { return std::to_string(n); }

// An embedded file.
struct DeviceFile {
  std::string_view name, text;
};
extern const DeviceFile kDeviceFiles[];
extern const size_t kDeviceFileCount;

}  // namespace tenon_cuda
