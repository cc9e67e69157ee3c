// A plugin whose calls are counted, for tests of what the host asks of a device.

#pragma once

#include <tenon/plugin.h>

#include <atomic>
#include <string>

namespace tenon::testing {

struct CallCounts {
  std::atomic<uint64_t> launches{0}, records{0}, replays{0}, fills{0}, allocations{0}, tasks{0};
  std::atomic<uint64_t> recordings{0};  // That were made and not given back.
};

// The plugin of a file, by the same name. There is one in a process.
tenon_plugin_query counted_plugin(const std::string& path);
CallCounts& counted();

}  // namespace tenon::testing
