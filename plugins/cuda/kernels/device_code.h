// The source files of device/, which are embedded in the plugin, and the names of their types.

#pragma once

#include <string>
#include <string_view>

#include "plugins/sdk/dtype.h"

namespace tenon_cuda {

// Returns the contents of a file of device/.
std::string_view device_file(std::string_view name);

// The name of a dtype's type in device code: "float", "Half".
const char* type_name(tenon_dtype dtype);
// The name of the unsigned integer type (or Wide16) with the same element size, for kernels that
// only move elements.
const char* bits_type_name(tenon_dtype dtype);

// Every embedded file, for tests that compile them all.
struct DeviceFile {
  std::string_view name, text;
};
extern const DeviceFile kDeviceFiles[];
extern const size_t kDeviceFileCount;

}  // namespace tenon_cuda
