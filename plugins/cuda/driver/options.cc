#include "plugins/cuda/driver/options.h"

namespace tenon_cuda {
namespace {

tenon_error* read_option(const tenon_sdk::Host& host, std::string_view key, std::string_view text,
                         Options& options) {
  if (key == "device") {
    options.device = text;
    return nullptr;
  }
  if (key != "cache") {
    return host.error(TENON_INVALID_ARGUMENT, "cuda: there is no option '" + std::string(key) +
                                                  "'; the options are cache, device");
  }
  if (!text.empty() && text[0] != '/') {
    return host.error(TENON_INVALID_ARGUMENT, "cuda: option cache is '" + std::string(text) +
                                                  "', but must be empty or an absolute path");
  }
  options.cache = text;
  return nullptr;
}

}  // namespace

tenon_error* read_options(const tenon_sdk::Host& host, const tenon_instance_options& given,
                          Options& options) {
  if (!TENON_SDK_HAS(given, n_options)) return nullptr;
  for (size_t i = 0; i < given.n_options; ++i) {
    const std::string_view key = tenon_sdk::text(given.option_keys[i]);
    const std::string_view text = tenon_sdk::text(given.option_values[i]);
    if (tenon_error* error = read_option(host, key, text, options)) return error;
  }
  return nullptr;
}

}  // namespace tenon_cuda
