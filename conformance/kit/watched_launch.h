// A launch that the guard looks at (guard.h): its outputs are put into memory of their own that was
// poisoned before and has guard bytes at both ends, and what its inputs hold is compared.

#pragma once

#include <tenon/plugin.h>

#include <string>
#include <vector>

#include "conformance/kit/guard.h"

namespace tenon_kit::guard {

// The plugin within, and its host.
struct Inner {
  const tenon_plugin_calls& calls;
  const tenon_host& host;
};

// Waits for all that the stream was given, and returns the failure that nobody was told of.
tenon_error* finish(const Inner& inner, tenon_stream_p* stream, tenon_features features);

class Watched {
 public:
  // What comes before it has ended.
  Watched(const Inner& inner, tenon_device_p* device, const tenon_launch& launch, Poison poison);
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched();

  bool looks() const { return looks_; }
  // What is launched in its place.
  tenon_launch handed() const;
  // Once that has ended: puts the outputs where they belong, and says what is wrong.
  std::vector<std::string> look() const;

 private:
  struct StandIn;

  const tenon_launch& launch_;
  std::vector<tenon_view> outputs_;
  std::vector<StandIn> stand_ins_;
  std::vector<std::vector<unsigned char>> before_;  // The bytes of inputs.
  bool looks_ = false;
};

}  // namespace tenon_kit::guard
