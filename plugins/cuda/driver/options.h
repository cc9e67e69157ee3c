// Options that a program can pass to its context for this plugin.

#pragma once

#include <optional>
#include <string>

#include "plugins/sdk/host.h"

namespace tenon_cuda {

struct Options {
  // An index or a part of a device's name; empty: all devices.
  std::string device;
  // Folder of the disk cache of compiled kernels; empty: the cache is disabled. Without a value, a
  // folder in the user's cache directory.
  std::optional<std::string> cache;
};

// Returns an error for an unknown key or an invalid value.
tenon_error* read_options(const tenon_sdk::Host& host, const tenon_instance_options& given,
                          Options& options);

}  // namespace tenon_cuda
