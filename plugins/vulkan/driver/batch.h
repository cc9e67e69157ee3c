// A batch: a command buffer that is submitted as a unit, and the host's actions after the device
// has completed it.

#pragma once

#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "plugins/vulkan/driver/cached_commands.h"
#include "plugins/vulkan/driver/memory.h"
#include "plugins/vulkan/driver/ring.h"

namespace tenon_vulkan {

class Stream;

// Identifies a launch when its failure is reported to the host by `launch_failed`.
struct LaunchId {
  void* work = nullptr;
  uint64_t ticket = 0;
  bool operator==(const LaunchId&) const = default;
};

// A copy between host addresses that the host performs once the device has completed the batch.
struct HostCopy {
  const std::byte* from;
  std::byte* to;
  uint64_t size;

  // Whether the copy writes to any of the `n` bytes at `begin`.
  bool writes(const void* begin, uint64_t n) const {
    const auto* const first = static_cast<const std::byte*>(begin);
    return first < to + size && to < first + n;
  }
};

struct Batch {
  Stream* stream = nullptr;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;  // Used only if the device has no timeline semaphores.
  std::chrono::steady_clock::time_point opened;

  // Position in the execution order of all batches. Valid once the batch is submitted.
  uint64_t number = 0;
  Batch* next = nullptr;
  VkResult result = VK_SUCCESS;  // Result of recording and submitting the batch.

  uint32_t n_commands = 0;
  uint64_t n_products = 0;
  bool has_transfers = false;
  bool has_marks =
      false;  // If true, the batch is not split, so that nothing else runs between its time marks.
  std::vector<LaunchId> launches;
  std::vector<HostCopy> host_copies;
  std::vector<Chunk*> spent;
  std::vector<std::unique_ptr<Buffer>> scratch;
  std::vector<std::shared_ptr<DescriptorSets>> sets;
  std::vector<std::shared_ptr<CachedCommands>> kept;

  // Prepares the batch for reuse.
  void clear() noexcept {
    result = VK_SUCCESS;
    n_commands = 0;
    n_products = 0;
    has_transfers = false;
    has_marks = false;
    launches.clear();
    host_copies.clear();
    spent.clear();
    scratch.clear();
    sets.clear();
    kept.clear();
  }
};

}  // namespace tenon_vulkan
