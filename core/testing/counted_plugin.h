// A plugin that counts its calls, for tests of what the host requests from a device.

#pragma once

#include <tenon/plugin.h>

#include <atomic>
#include <string>

namespace tenon::testing {

struct CallCounts {
  std::atomic<uint64_t> launches{0}, records{0}, replays{0}, fills{0}, allocations{0}, tasks{0};
  std::atomic<uint64_t> recordings{0};  // Created and not yet released.
};

// Wraps the plugin in a file, under the same name. A process can wrap one plugin.
tenon_plugin_query counted_plugin(const std::string& path);
CallCounts& counted();

}  // namespace tenon::testing
