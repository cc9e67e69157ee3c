// What a command buffer is told, with barriers where a command would otherwise meet what those
// before it still read or write.

#pragma once

#include <array>
#include <span>
#include <vector>

#include "plugins/vulkan/driver/block.h"
#include "plugins/vulkan/driver/clock.h"
#include "plugins/vulkan/driver/pipelines.h"

namespace tenon_vulkan {

// Bytes [begin, end) of a block, as a command touches them.
struct Access {
  uint32_t block;  // Its serial number.
  uint64_t begin, end;
  bool is_written;

  bool operator==(const Access&) const = default;
  // Whether one of two commands has to wait for the other.
  bool meets(const Access& other) const {
    return block == other.block && (is_written || other.is_written) && begin < other.end &&
           other.begin < end;
  }
};

class Commands {
 public:
  // More accesses that are remembered are fewer barriers, and more to look through.
  Commands(const Driver& driver, size_t most_accesses)
      : driver_(driver), most_accesses_(most_accesses) {}

  // The first command comes behind all that the queue was given before.
  tenon_error* begin(VkCommandBuffer commands);
  // Behind it the host sees what was written.
  VkResult end();

  // The same for secondary commands, which are executed again and again, and wait for nothing.
  tenon_error* begin_kept(VkCommandBuffer commands);
  VkResult end_kept();
  // Waits for all that was before.
  void execute(VkCommandBuffer kept);

  // Says what the next command touches.
  void order(std::span<const Access> accesses);

  // `label`: how tools show it; NULL where none looks.
  void dispatch(const Pipeline& pipeline, VkDescriptorSet set, uint32_t first_word,
                const std::array<uint32_t, 3>& groups, const char* label);
  void copy(const Block& from, const Block& to, std::span<const VkBufferCopy> regions);
  // Multiples of 4 bytes.
  void fill(const Block& block, uint64_t offset, uint64_t size, uint32_t word);
  // What the clock shows when all that was before has ended, and nothing behind it has begun.
  void write_time(const Query& query);

 private:
  tenon_error* begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo& info);
  void barrier(VkPipelineStageFlags to_stages, VkAccessFlags to_accesses);
  bool needs_barrier(std::span<const Access> accesses) const;

  const Driver& driver_;
  const size_t most_accesses_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;  // What is bound.
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  std::vector<Access> accesses_;   // Since the last barrier;
  bool has_touched_more_ = false;  // then those are not all.
};

}  // namespace tenon_vulkan
