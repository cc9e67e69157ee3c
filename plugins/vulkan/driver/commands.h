// Encodes a command buffer, with barriers where a command conflicts with reads or writes of earlier
// commands.

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
  uint32_t block;  // The block's serial number.
  uint64_t begin, end;
  bool is_written;

  bool operator==(const Access&) const = default;
  // Whether the two accesses conflict, so that one command has to wait for the other.
  bool meets(const Access& other) const {
    return block == other.block && (is_written || other.is_written) && begin < other.end &&
           other.begin < end;
  }
};

class Commands {
 public:
  // `max_accesses`: number of accesses to remember. More accesses save barriers, but take longer to
  // search.
  Commands(const Driver& driver, size_t max_accesses)
      : driver_(driver), max_accesses_(max_accesses) {}

  // The first command runs after everything that was submitted to the queue before.
  tenon_error* begin(VkCommandBuffer commands);
  // Ends the command buffer and makes its writes visible to the host.
  VkResult end();

  // Like begin() and end(), for secondary command buffers, which are executed repeatedly and do not
  // wait for earlier work.
  tenon_error* begin_kept(VkCommandBuffer commands);
  VkResult end_kept();
  // Waits for all earlier commands.
  void execute(VkCommandBuffer kept);

  // Declares the accesses of the next command and inserts a barrier if they conflict with earlier
  // ones.
  void order(std::span<const Access> accesses);

  // `label` is shown by debugging tools; NULL if none is attached.
  void dispatch(const Pipeline& pipeline, VkDescriptorSet set, uint32_t first_word,
                const std::array<uint32_t, 3>& groups, const char* label);
  void copy(const Block& from, const Block& to, std::span<const VkBufferCopy> regions);
  // `offset` and `size` are multiples of 4 bytes.
  void fill(const Block& block, uint64_t offset, uint64_t size, uint32_t word);
  // Writes a timestamp after all earlier commands have completed and before any later one begins.
  void write_time(const Query& query);

 private:
  tenon_error* begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo& info);
  void barrier(VkPipelineStageFlags to_stages, VkAccessFlags to_accesses);
  bool needs_barrier(std::span<const Access> accesses) const;

  const Driver& driver_;
  const size_t max_accesses_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;  // The bound pipeline.
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  std::vector<Access> accesses_;   // Accesses since the last barrier.
  bool has_touched_more_ = false;  // Whether more accesses occurred than are remembered.
};

}  // namespace tenon_vulkan
