// What a command buffer is told, with barriers where a command would otherwise meet what those
// before it still read or write.

#pragma once

#include <array>
#include <span>

#include "plugins/vulkan/driver/block.h"
#include "plugins/vulkan/driver/pipelines.h"

namespace tenon_vulkan {

// Bytes [begin, end) of a block, as a command touches them.
struct Access {
  uint32_t block;  // Its serial number.
  uint64_t begin, end;
  bool is_written;
};

class Commands {
 public:
  explicit Commands(const Driver& driver) : driver_(driver) {}

  // The first command comes behind all that the queue was given before.
  tenon_error* begin(VkCommandBuffer commands);
  // Behind it the host sees what was written.
  VkResult end();

  // Says what the next command touches.
  void order(std::span<const Access> accesses);

  void dispatch(const Pipeline& pipeline, VkDescriptorSet set, uint32_t first_word,
                const std::array<uint32_t, 3>& groups);
  void copy(const Block& from, const Block& to, std::span<const VkBufferCopy> regions);
  // Multiples of 4 bytes.
  void fill(const Block& block, uint64_t offset, uint64_t size, uint32_t word);

 private:
  // So few that looking through them costs less than the barrier that it may save.
  static constexpr size_t kMostAccesses = 32;

  void barrier(VkPipelineStageFlags to_stages, VkAccessFlags to_accesses);
  bool needs_barrier(const Access& access) const;

  const Driver& driver_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;  // What is bound.
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  size_t n_accesses_ = 0;  // Since the last barrier.
  std::array<Access, kMostAccesses> accesses_;
};

}  // namespace tenon_vulkan
