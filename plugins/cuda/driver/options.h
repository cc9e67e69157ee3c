// What a program may say to its context about this plugin.

#pragma once

#include <optional>
#include <string>

#include "plugins/sdk/host.h"

namespace tenon_cuda {

struct Options {
  // An index or a part of a device's name; empty: all devices.
  std::string device;
  // Where compiled kernels are kept between runs; empty: nowhere. Not given: in the user's cache.
  std::optional<std::string> cache;
};

// An error for a key that is not known, or a value that means nothing.
tenon_error* read_options(const tenon_sdk::Host& host, const tenon_instance_options& given,
                          Options& options);

}  // namespace tenon_cuda
