#include "plugins/fake/options.h"

#include <charconv>
#include <string>

namespace tenon_fake {
namespace {

struct Option {
  std::string_view key;
  uint64_t Options::*value;
};

constexpr Option kOptions[] = {
    {"asynchronous", &Options::asynchronous},
    {"visible", &Options::visible},
    {"blocking", &Options::blocking},
    {"delay_us", &Options::delay_us},
    {"memory_bytes", &Options::memory_bytes},
    {"fail_launch", &Options::fail_launch},
    {"fail_enqueue", &Options::fail_enqueue},
    {"fail_copy", &Options::fail_copy},
    {"fail_allocate", &Options::fail_allocate},
    {"lose_at", &Options::lose_at},
    {"silent", &Options::silent},
    {"fail_call", &Options::fail_call},
    {"out_of_order", &Options::out_of_order},
    {"refuse_op", &Options::refuse_op},
    {"claim_features", &Options::claim_features},
    {"records", &Options::records},
    {"clock", &Options::clock},
    {"max_operand_bytes", &Options::max_operand_bytes},
    {"overrun_op", &Options::overrun_op},
    {"overrun_output", &Options::overrun_output},
    {"leak_op", &Options::leak_op},
    {"swallow_op", &Options::swallow_op},
};

}  // namespace

tenon_error* read_options(const tenon_sdk::Host& host, const tenon_instance_options& given,
                          Options& options) {
  if (!TENON_SDK_HAS(given, n_options)) return nullptr;
  for (size_t i = 0; i < given.n_options; ++i) {
    const std::string_view key = tenon_sdk::text(given.option_keys[i]);
    const std::string_view text = tenon_sdk::text(given.option_values[i]);
    const Option* option = nullptr;
    for (const Option& candidate : kOptions) {
      if (candidate.key == key) option = &candidate;
    }
    if (!option) {
      return host.error(TENON_INVALID_ARGUMENT, "unknown option '" + std::string(key) + "'");
    }
    const char* const end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, options.*option->value);
    if (status != std::errc() || stop != end) {
      return host.error(TENON_INVALID_ARGUMENT, "option " + std::string(key) + ": '" +
                                                    std::string(text) + "' is not a number");
    }
  }
  return nullptr;
}

}  // namespace tenon_fake
