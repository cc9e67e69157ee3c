// Options that a program can pass to its context for this plugin.

#pragma once

#include <optional>
#include <string>

#include "plugins/sdk/host.h"

namespace tenon_cuda {

struct Options {
  // Selects devices by their index or by a part of their name; empty: all devices.
  std::string device;
  // Folder of the disk cache of compiled kernels; empty: the cache is disabled. If the option is
  // not given, the cache is in the user's cache directory.
  std::optional<std::string> cache;
};

// Parses the options of a context. Returns an error for an unknown key or an invalid value.
tenon_error* read_options(const tenon_sdk::Host& host, const tenon_instance_options& given,
                          Options& options);

}  // namespace tenon_cuda
