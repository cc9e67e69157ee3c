#include "plugins/vulkan/driver/options.h"

#include <cstdlib>

namespace tenon_vulkan {
namespace {

constexpr std::string_view kKeys =
    "cache, clock, device, gpu_ways, loader, minimum, names, sequences, shaders, timeline, "
    "validate, visible";

// Returns the boolean option with this name; NULL if there is none.
bool* find_switch(Options& options, std::string_view key) {
  if (key == "clock") return &options.clock;
  if (key == "gpu_ways") return &options.gpu_ways;
  if (key == "minimum") return &options.minimum;
  if (key == "names") return &options.names;
  if (key == "sequences") return &options.sequences;
  if (key == "timeline") return &options.timeline;
  if (key == "validate") return &options.validate;
  if (key == "visible") return &options.visible;
  return nullptr;
}

// Sets the option `key` to the value that `text` specifies.
tenon_error* read_option(const tenon_sdk::Host& host, std::string_view key, std::string_view text,
                         Options& options) {
  if (key == "device") {
    options.device = text;
  } else if (key == "loader") {
    options.loader = text;
  } else if (key == "cache" || key == "shaders") {
    if (!text.empty() && text[0] != '/') {
      return host.error(TENON_INVALID_ARGUMENT, "vulkan: option " + std::string(key) + " is '" +
                                                    std::string(text) +
                                                    "', but must be empty or an absolute path");
    }
    if (key == "cache") {
      options.cache = text;
    } else {
      options.shaders = text;
    }
  } else if (bool* const value = find_switch(options, key)) {
    if (text != "0" && text != "1") {
      return host.error(TENON_INVALID_ARGUMENT, "vulkan: option " + std::string(key) + " is '" +
                                                    std::string(text) + "', but must be 0 or 1");
    }
    *value = text == "1";
  } else {
    return host.error(TENON_INVALID_ARGUMENT, "vulkan: there is no option '" + std::string(key) +
                                                  "'; the options are " + std::string(kKeys));
  }
  return nullptr;
}

}  // namespace

const char* trusted_environment_variable(const char* name) {
#if defined(__GLIBC__)
  return secure_getenv(name);
#else
  return std::getenv(name);
#endif
}

tenon_error* read_options(const tenon_sdk::Host& host, const tenon_instance_options& given,
                          Options& options) {
  if (const char* const shaders = trusted_environment_variable("TENON_VULKAN_SHADERS")) {
    if (tenon_error* error = read_option(host, "shaders", shaders, options)) return error;
  }
  if (!TENON_SDK_HAS(given, n_options)) return nullptr;
  for (size_t i = 0; i < given.n_options; ++i) {
    const std::string_view key = tenon_sdk::text(given.option_keys[i]);
    const std::string_view text = tenon_sdk::text(given.option_values[i]);
    if (tenon_error* error = read_option(host, key, text, options)) return error;
  }
  return nullptr;
}

}  // namespace tenon_vulkan
