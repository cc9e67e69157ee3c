// Caches the dispatches of a recording as a secondary command buffer, which later replays execute.
// The commands are valid only for slots in the same blocks. The offsets of the slots in their
// blocks, and the values, are parameters in device memory. Before a replay with other parameters,
// the queue updates them.

#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "plugins/vulkan/driver/descriptors.h"
#include "plugins/vulkan/driver/memory.h"

namespace tenon_vulkan {

class Device;

// The location of a slot.
struct SlotLocation {
  const Block* block = nullptr;  // NULL: the slot is empty.
  uint64_t begin = 0;

  bool operator==(const SlotLocation&) const = default;
};

class CachedCommands {
 public:
  // Cache key: the blocks of the slots. If a block is too large for one binding, the offset of the
  // bound range is part of the key.
  using Key = std::vector<uint64_t>;
  // Returns the cache key of commands for slots at these locations, in a stream with this number.
  static Key key_of(const Driver& driver, uint32_t stream, std::span<const SlotLocation> slots);

  CachedCommands(Device& device, Key key) : device_(device), key_(std::move(key)) {}
  CachedCommands(const CachedCommands&) = delete;
  CachedCommands& operator=(const CachedCommands&) = delete;
  ~CachedCommands();

  // Allocates the command buffer and this many bytes of parameters.
  tenon_error* open(uint64_t parameter_bytes);

  const Key& key() const { return key_; }
  VkCommandBuffer commands() const { return commands_; }
  const Buffer& parameters() const { return *parameters_; }

  // The parameters that the next replay needs.
  std::vector<std::byte> wanted;
  std::vector<SlotLocation> filled;  // Locations of the slots when the commands were encoded.
  std::vector<SlotLocation> slots;   // Locations of the slots that `wanted` describes.
  std::vector<tenon_element> values;
  // The range of bytes of `wanted` that have not been copied to device memory yet.
  uint64_t stale_begin = 0, stale_end = 0;
  // Adds bytes of `wanted` to those that must be sent to the device before the next replay.
  void mark_stale(uint64_t begin, uint64_t end) {
    stale_begin = std::min(stale_begin, begin);
    stale_end = std::max(stale_end, end);
  }
  void mark_all_stale() noexcept { mark_stale(0, wanted.size()); }
  // Records that all bytes of `wanted` have been copied to device memory.
  void mark_none_stale() { stale_begin = wanted.size(), stale_end = 0; }

  // One pipeline can execute a sequence of small dispatches (a coalesced sequence). `sequences`:
  // the pipelines of the sequences in these commands. `awaited`: the pipelines that must be created
  // before commands with more sequences replace these. The replacement is encoded at replay number
  // `next_at` or later.
  using Sequences = std::vector<std::shared_ptr<const Pipeline>>;
  Sequences sequences, awaited;
  // False if a sequence is missing because its pipeline has not been created yet.
  bool is_whole = true;
  static constexpr uint64_t kNever = ~uint64_t{0};
  uint64_t n_replays = 0, next_at = kNever;
  // Counts a replay and returns whether the replacement should be encoded now. Called once per
  // replay.
  bool is_due() {
    return ++n_replays >= next_at && std::all_of(awaited.begin(), awaited.end(),
                                                 [](const auto& each) { return each->is_made(); });
  }

  std::vector<std::shared_ptr<DescriptorSets>> sets;
  uint64_t last_replay = 0;

 private:
  Device& device_;
  const Key key_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  std::unique_ptr<Buffer> parameters_;
};

}  // namespace tenon_vulkan
