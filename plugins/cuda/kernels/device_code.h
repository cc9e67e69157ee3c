// The text of device/, which is embedded in the plugin, and the names of types in it.

#pragma once

#include <string>
#include <string_view>

#include "plugins/sdk/dtype.h"

namespace tenon_cuda {

// The text of a file of device/, by its name.
std::string_view device_file(std::string_view name);

// "float", "Half": what device code calls a dtype.
const char* type_name(tenon_dtype dtype);
// The unsigned integer, or Wide16, whose elements have the same size: for what is only moved.
const char* bits_type_name(tenon_dtype dtype);

// Every embedded file, for tests that compile them all.
struct DeviceFile {
  std::string_view name, text;
};
extern const DeviceFile kDeviceFiles[];
extern const size_t kDeviceFileCount;

}  // namespace tenon_cuda
