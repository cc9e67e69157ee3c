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
  // Returns the number of replays after which the sequence pays off. In that many replays, starting
  // its dispatches one by one takes as long as compiling the sequence's shader.
  uint64_t min_replays_to_pay_off() const;

  // Returns the sequence's pipeline in `pipeline`. The VkPipeline may not be created yet.
  tenon_error* get_pipeline(Device& device, std::shared_ptr<const Pipeline>& pipeline) const;

  // Return the parameters of the merged shader, and their size in bytes.
  static uint64_t bytes_for(size_t n_dispatches) { return n_dispatches * kBytesEach; }
  uint64_t parameter_bytes() const { return bytes_for(size_); }
  std::vector<uint32_t> parameters() const;
  // Returns the sequence as one dispatch. `first_word`: index of the first word of its parameters.
  BoundDispatch bound_dispatch(const Pipeline& pipeline, uint32_t first_word) const;

 private:
  static constexpr uint64_t kBytesEach = 16;

  // Consecutive dispatches of one shader with the same bindings.
  struct Part {
    const Pipeline* pipeline;
    std::vector<uint32_t> bindings;
    uint32_t end;  // Index after the last dispatch of the part.
  };

  // Adds the dispatch if the sequence then has at most `most_bindings` operand bindings and is not
  // too long. Otherwise, returns false and adds nothing.
  bool add(const BoundDispatch& dispatch, uint32_t most_bindings);
  // Adds the bindings that are new and stores the index of each binding in `numbers`. Returns
  // false, and adds none, if there would be more than `most_bindings` operand bindings.
  bool add_bindings(std::span<const Binding> bindings, uint32_t most_bindings,
                    std::vector<uint32_t>& numbers);

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
