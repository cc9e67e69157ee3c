// Consecutive small dispatches, coalesced into one (spirv/sequence.h). This saves several
// microseconds per dispatch for its start and for the barrier before it.

#pragma once

#include <array>
#include <span>
#include <vector>

#include "plugins/vulkan/driver/commands.h"
#include "plugins/vulkan/driver/descriptors.h"

namespace tenon_vulkan {

class Device;

// A dispatch with its parameters written and its operands bound, ready to be encoded.
struct BoundDispatch {
  const Pipeline* pipeline;
  std::span<const Binding> bindings;  // Binding 0 holds the parameters.
  std::span<const Access> accesses;
  uint32_t first_word;  // Index of the first parameter word.
  std::array<uint32_t, 3> groups;
  uint64_t iterations, n;  // See the members of Dispatch with these names.
};

// A prefix of a list of dispatches, coalesced into one dispatch.
class Sequence {
 public:
  // Forms the longest prefix of `dispatches` that can be coalesced; size() may be 0.
  Sequence(const Device& device, std::span<const BoundDispatch> dispatches);

  size_t size() const { return size_; }
  // Returns the number of replays after which the sequence pays off: the start of its dispatches
  // has then taken as long as compiling its shader.
  uint64_t pays_off_at() const;

  // Returns the sequence's pipeline in `pipeline`. The VkPipeline may not be created yet.
  tenon_error* get_pipeline(Device& device, std::shared_ptr<const Pipeline>& pipeline) const;

  // Size of the sequence's own parameters in bytes. placed() takes the index of their first word.
  static uint64_t bytes_for(size_t n_dispatches) { return n_dispatches * kBytesEach; }
  uint64_t parameter_bytes() const { return bytes_for(size_); }
  std::vector<uint32_t> parameters() const;
  BoundDispatch placed(const Pipeline& pipeline, uint32_t first_word) const;

 private:
  static constexpr uint64_t kBytesEach = 16;

  // Consecutive dispatches of one shader with the same bindings.
  struct Part {
    const Pipeline* pipeline;
    std::vector<uint32_t> bindings;
    uint32_t end;  // Index after the last dispatch of the part.
  };

  bool add(const BoundDispatch& dispatch, uint32_t most_bindings);
  bool bind(std::span<const Binding> bindings, uint32_t most, std::vector<uint32_t>& numbers);

  size_t size_ = 0;
  std::vector<Part> parts_;
  std::vector<Binding> bindings_;
  std::vector<Access> accesses_;
  std::vector<uint32_t> first_words_;
  uint64_t iterations_ = 0;
  uint64_t n_ = 1;
  size_t n_words_ = 0;  // Total size of the parts' shaders.
};

}  // namespace tenon_vulkan
