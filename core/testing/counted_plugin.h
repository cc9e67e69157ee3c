// A plugin that counts its calls. Tests use it to check which calls the host makes to a device.

#pragma once

#include <tenon/plugin.h>

#include <atomic>
#include <string>

namespace tenon::testing {

struct CallCounts {
  std::atomic<uint64_t> launches{0}, records{0}, replays{0}, fills{0}, allocations{0}, tasks{0};
  std::atomic<uint64_t> recordings{0};  // Recordings that exist: created, not yet released.
};

// Wraps the plugin in the file `path`. The wrapper has the same name as the plugin. A process can
// wrap only one plugin.
tenon_plugin_query counted_plugin(const std::string& path);
// Returns the numbers of calls that the wrapped plugin has received so far.
CallCounts& call_counts();

}  // namespace tenon::testing
