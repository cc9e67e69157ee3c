// The dispatches of a recording as commands that are executed again at each replay, for slots that
// lie in certain blocks. Where in their blocks the slots begin, and what values hold, stands in the
// parameters: these are kept, too, and the queue changes them before a replay that has others.

#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "plugins/vulkan/driver/descriptors.h"
#include "plugins/vulkan/driver/memory.h"

namespace tenon_vulkan {

class Device;

// Where a slot is.
struct SlotPlace {
  const Block* block = nullptr;  // NULL: it is empty.
  uint64_t begin = 0;

  bool operator==(const SlotPlace&) const = default;
};

class KeptCommands {
 public:
  // Which blocks slots are in. Those that shaders do not see whole are bound to a place, so that
  // there the place counts as well.
  using Key = std::vector<uint64_t>;
  static Key key_of(const Driver& driver, uint32_t stream, std::span<const SlotPlace> slots);

  KeptCommands(Device& device, Key key) : device_(device), key_(std::move(key)) {}
  KeptCommands(const KeptCommands&) = delete;
  KeptCommands& operator=(const KeptCommands&) = delete;
  ~KeptCommands();

  // Room for the commands and for so many bytes of parameters.
  tenon_error* open(uint64_t parameter_bytes);

  const Key& key() const { return key_; }
  VkCommandBuffer commands() const { return commands_; }
  const Buffer& parameters() const { return *parameters_; }

  // The parameters as the replay that comes next wants them.
  std::vector<std::byte> wanted;
  std::vector<SlotPlace> filled;  // Where slots were when the commands were told,
  std::vector<SlotPlace> slots;   // where they are as `wanted` says it,
  std::vector<tenon_element> values;
  // and the part of it that the device has otherwise when it comes to that replay.
  uint64_t stale_begin = 0, stale_end = 0;
  void mark_stale(uint64_t begin, uint64_t end) {
    stale_begin = std::min(stale_begin, begin);
    stale_end = std::max(stale_end, end);
  }
  void mark_all_stale() noexcept { mark_stale(0, wanted.size()); }
  void mark_sent() { stale_begin = wanted.size(), stale_end = 0; }

  // The pipelines of its sequences, and of those that commands in its place are to have: of more,
  // once there were so many replays.
  using Sequences = std::vector<std::shared_ptr<const Pipeline>>;
  Sequences sequences, awaited;
  bool is_whole = true;  // False: a sequence is missing, whose pipeline was not made yet.
  static constexpr uint64_t kNever = ~uint64_t{0};
  uint64_t n_replays = 0, next_at = kNever;
  // Told of each replay.
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
