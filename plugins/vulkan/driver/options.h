// Options that a program can pass to its context for this plugin.

#pragma once

#include <optional>
#include <string>

#include "plugins/sdk/host.h"
#include "plugins/vulkan/driver/loader.h"

namespace tenon_vulkan {

struct Options {
  // Selects devices: an index, a UUID in hex, a type of device, or a substring of the device's
  // name. Empty: all devices.
  std::string device;
  std::string loader = kLoaderName;
  // Folder of the pipeline cache. Empty: the cache is disabled. nullopt: a folder in the user's
  // cache directory.
  std::optional<std::string> cache;
  // Folder to which each SPIR-V module is written as HASH.spv, for inspection; empty: none is
  // written. The default is the value of the environment variable TENON_VULKAN_SHADERS.
  std::string shaders;
  bool validate = false;   // Enable the Khronos validation layer.
  bool gpu_ways = false;   // Use the GPU variants of kernels also on software drivers.
  bool sequences = false;  // Coalesce small dispatches from a recording's first replay on.
  bool minimum = false;    // Assume only the limits and features that Vulkan requires.
  bool names = false;      // Name objects for debugging tools; `validate` implies it.
  bool visible = true;     // If false, treat device memory as not host-visible.
  bool timeline = true;    // If false, do not use timeline semaphores.
  bool clock = true;       // If false, report that the device has no clock.

  // Whether Vulkan objects are named for debugging tools.
  bool wants_names() const { return names || validate; }
};

// Returns an environment variable; NULL in a process with elevated privileges (secure_getenv).
const char* trusted_environment_variable(const char* name);

// Sets `options` from the options that the program passed. Returns an error for an unknown key or
// an invalid value.
tenon_error* read_options(const tenon_sdk::Host& host, const tenon_instance_options& given,
                          Options& options);

}  // namespace tenon_vulkan
