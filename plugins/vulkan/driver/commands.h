// Encodes a command buffer. Inserts a barrier before each command that conflicts with a read or
// write of an earlier command.

#pragma once

#include <array>
#include <span>
#include <vector>

#include "plugins/vulkan/driver/block.h"
#include "plugins/vulkan/driver/clock.h"
#include "plugins/vulkan/driver/pipelines.h"

namespace tenon_vulkan {

// An access of a command to bytes [begin, end) of a block.
struct Access {
  uint32_t block;  // The block's serial number.
  uint64_t begin, end;
  bool is_written;

  bool operator==(const Access&) const = default;
  // Whether the two accesses conflict: they overlap and at least one is a write.
  bool conflicts_with(const Access& other) const {
    return block == other.block && (is_written || other.is_written) && begin < other.end &&
           other.begin < end;
  }
};

class Commands {
 public:
  // `max_accesses`: number of accesses since the last barrier that are stored and searched for
  // conflicts. A larger number avoids barriers, but makes the search slower.
  Commands(const Driver& driver, size_t max_accesses)
      : driver_(driver), max_accesses_(max_accesses) {}

  // Begins a command buffer. Its first command waits for all work that was submitted to the queue
  // earlier.
  tenon_error* begin(VkCommandBuffer commands);
  // Ends the command buffer and makes its writes visible to the host.
  VkResult end();

  // Like begin() and end(), for secondary command buffers, which are executed repeatedly and do not
  // wait for earlier work.
  tenon_error* begin_secondary(VkCommandBuffer commands);
  VkResult end_secondary();
  // Encodes the execution of a secondary command buffer after all earlier commands.
  void execute(VkCommandBuffer secondary);

  // Declares the accesses of the next command and inserts a barrier if they conflict with earlier
  // ones.
  void add_accesses(std::span<const Access> accesses);

  // Encodes a dispatch of `groups` workgroups. `first_word`: index of the first parameter of the
  // dispatch in the parameter buffer, passed as a push constant. `label`: displayed by debugging
  // tools, NULL if no tool is attached.
  void dispatch(const Pipeline& pipeline, VkDescriptorSet set, uint32_t first_word,
                const std::array<uint32_t, 3>& groups, const char* label);
  // Encodes a copy of byte ranges between two blocks.
  void copy(const Block& from, const Block& to, std::span<const VkBufferCopy> regions);
  // Encodes a fill with a repeated 32-bit word. `offset` and `size` are multiples of 4 bytes.
  void fill(const Block& block, uint64_t offset, uint64_t size, uint32_t word);
  // Encodes a timestamp, taken after all earlier commands and before any later one begins.
  void write_time(const Query& query);

 private:
  // Begins a command buffer without waiting for earlier work.
  tenon_error* begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo& info);
  // Encodes a barrier after all earlier accesses.
  void barrier(VkPipelineStageFlags to_stages, VkAccessFlags to_accesses);
  // Whether an access conflicts with one since the last barrier, or there are too many to compare.
  bool needs_barrier(std::span<const Access> accesses) const;

  const Driver& driver_;
  const size_t max_accesses_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;  // The bound pipeline.
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  std::vector<Access> accesses_;   // Accesses since the last barrier.
  bool has_touched_more_ = false;  // Whether more than max_accesses_ accesses occurred.
};

}  // namespace tenon_vulkan
