// Dispatches behind each other that are small: told to the driver as one (spirv/sequence.h). It
// takes microseconds to begin a dispatch, and to see that the one before has ended.

#pragma once

#include <array>
#include <span>
#include <vector>

#include "plugins/vulkan/driver/commands.h"
#include "plugins/vulkan/driver/descriptors.h"

namespace tenon_vulkan {

class Device;

// A dispatch whose parameters are written, as the driver is told it.
struct PlacedDispatch {
  const Pipeline* pipeline;
  std::span<const Binding> bindings;  // 0 is the parameters.
  std::span<const Access> accesses;
  uint32_t first_word;  // Of the parameters.
  std::array<uint32_t, 3> groups;
  uint64_t iterations, n;  // As Dispatch says.
};

// Some of a list of dispatches as one.
class Sequence {
 public:
  // Those at the beginning that can be.
  Sequence(const Device& device, std::span<const PlacedDispatch> dispatches);

  size_t size() const { return size_; }
  // Behind so many replays it is worth its shader: by then as much time went into its dispatches as
  // that takes to be made.
  uint64_t is_worth_at() const;

  // A pipeline of the device's, which may not be made yet.
  tenon_error* get_pipeline(Device& device, std::shared_ptr<const Pipeline>& pipeline) const;

  // Its own parameters: where they begin in the block of all, it is dispatched.
  static uint64_t bytes_for(size_t n_dispatches) { return n_dispatches * kBytesEach; }
  uint64_t parameter_bytes() const { return bytes_for(size_); }
  std::vector<uint32_t> parameters() const;
  PlacedDispatch placed(const Pipeline& pipeline, uint32_t first_word) const;

 private:
  static constexpr uint64_t kBytesEach = 16;

  // Dispatches of one shader whose operands are bound alike.
  struct Part {
    const Pipeline* pipeline;
    std::vector<uint32_t> bindings;
    uint32_t end;  // The step behind its last.
  };

  bool add(const PlacedDispatch& dispatch, uint32_t most_bindings);
  bool bind(std::span<const Binding> bindings, uint32_t most, std::vector<uint32_t>& numbers);

  size_t size_ = 0;
  std::vector<Part> parts_;
  std::vector<Binding> bindings_;
  std::vector<Access> accesses_;
  std::vector<uint32_t> first_words_;
  uint64_t iterations_ = 0;
  uint64_t n_ = 1;
  size_t n_words_ = 0;  // Of the parts' shaders.
};

}  // namespace tenon_vulkan
