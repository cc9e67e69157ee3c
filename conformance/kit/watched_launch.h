// A launch that the guard observes (guard.h). Outputs and the workspace are replaced by poisoned
// memory between guard bytes, and inputs are compared before and after. Device memory is accessed
// only by copies and fills on the launch's stream, so the host need not be able to map it.

#pragma once

#include <tenon/plugin.h>

#include <memory>
#include <string>
#include <vector>

#include "conformance/kit/guard.h"

namespace tenon_kit::guard {

// The function table of the guarded plugin, and that of its host.
struct Inner {
  const tenon_plugin_calls& calls;
  const tenon_host& host;
};

// Waits for all work of the stream, and returns the error that no call has reported yet.
tenon_error* wait_for_stream(const Inner& inner, tenon_stream_p* stream, tenon_features features);

// An observed launch. Its stream must have finished before it is destroyed.
class Watched {
 public:
  Watched(const Inner& inner, tenon_device_p* device, tenon_stream_p* stream, bool is_visible,
          const tenon_launch& launch);
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched();

  // Whether the launch has operands that the guard observes.
  bool has_observed_operands() const { return looks_; }
  // Enqueues the work before the launch: fills of the replacements, and copies of inputs.
  tenon_error* prepare(Poison poison);
  // Returns the launch with replaced operands, to run in place of the original.
  tenon_launch redirected_launch() const;
  // Enqueues the work after the launch: copies of outputs to their real memory, of guard bytes and
  // of inputs.
  tenon_error* enqueue_copies_back();
  // Returns a description of each fault. Must be called after the stream has finished.
  std::vector<std::string> faults() const;

 private:
  struct StandIn;
  struct Input;

  // Makes `view` refer to new memory between guard zones. Returns false if none is left.
  bool replace(tenon_view& view, uint64_t bytes, bool is_visible, std::string name);
  // Copies the bytes of an input to `to`.
  tenon_error* read(const Input& x, std::vector<unsigned char>& to) const;
  tenon_error* copy(const tenon_place& from, const tenon_place& to, uint64_t size) const;

  const Inner inner_;
  tenon_device_p* const device_;
  tenon_stream_p* const stream_;
  const tenon_launch& launch_;
  std::vector<tenon_view> outputs_;
  tenon_view workspace_;
  std::vector<std::unique_ptr<StandIn>> stand_ins_;
  std::vector<std::unique_ptr<Input>> inputs_;
  bool looks_ = false;
};

}  // namespace tenon_kit::guard
