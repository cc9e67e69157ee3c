// What a program may say to its context about this plugin.

#pragma once

#include <optional>
#include <string>

#include "plugins/sdk/host.h"
#include "plugins/vulkan/driver/loader.h"

namespace tenon_vulkan {

struct Options {
  // An index, a UUID in hex, a type of device or a part of its name; empty: all devices.
  std::string device;
  std::string loader = kLoaderName;
  // Where pipelines are kept between runs; empty: nowhere. Not given: in the user's cache.
  std::optional<std::string> cache;
  // Where each module of SPIR-V is kept, as HASH.spv, for tools that look at it; empty: nowhere.
  // Not given: in the folder of the variable TENON_VULKAN_SHADERS.
  std::string shaders;
  bool validate = false;  // Through the Khronos validation layer.
  bool gpu_ways = false;  // Kernels go the ways of GPUs, also where the host's processor runs them.
  bool sequences = false;  // At once: small dispatches are one from a recording's first replay on.
  bool minimum = false;    // As if the device had what Vulkan asks of each, and no more.
  bool names = false;      // Of objects, for tools that show them; `validate` implies it.
  bool visible = true;     // False: as if the host saw no device memory.
  bool timeline = true;    // False: as if there were no timeline semaphores.
  bool clock = true;       // False: as if the device had no clock.

  bool wants_names() const { return names || validate; }
};

// A variable of the environment; NULL also for a process with more rights than who set it.
const char* trusted_variable(const char* name);

// An error for a key that is not known, or a value that means nothing.
tenon_error* read_options(const tenon_sdk::Host& host, const tenon_instance_options& given,
                          Options& options);

}  // namespace tenon_vulkan
