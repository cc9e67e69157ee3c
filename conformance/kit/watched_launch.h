// A launch that the guard observes (guard.h). Outputs are replaced by poisoned memory between guard
// bytes, and inputs are compared before and after.

#pragma once

#include <tenon/plugin.h>

#include <string>
#include <vector>

#include "conformance/kit/guard.h"

namespace tenon_kit::guard {

// The calls of the guarded plugin, and its host.
struct Inner {
  const tenon_plugin_calls& calls;
  const tenon_host& host;
};

// Waits for all work of the stream, and returns the error that no call has reported yet.
tenon_error* finish(const Inner& inner, tenon_stream_p* stream, tenon_features features);

class Watched {
 public:
  // Earlier work of the stream must have completed.
  Watched(const Inner& inner, tenon_device_p* device, const tenon_launch& launch, Poison poison);
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched();

  bool looks() const { return looks_; }
  // The launch to run in its place.
  tenon_launch handed() const;
  // After it completed: copies the outputs to their real memory, and returns the faults.
  std::vector<std::string> look() const;

 private:
  struct StandIn;

  const tenon_launch& launch_;
  std::vector<tenon_view> outputs_;
  std::vector<StandIn> stand_ins_;
  std::vector<std::vector<unsigned char>> before_;  // Contents of the inputs before the launch.
  bool looks_ = false;
};

}  // namespace tenon_kit::guard
