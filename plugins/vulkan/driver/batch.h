// Work that is submitted as one: a command buffer, and what the host has to do when the device has
// come to its end.

#pragma once

#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "plugins/vulkan/driver/kept_commands.h"
#include "plugins/vulkan/driver/memory.h"
#include "plugins/vulkan/driver/ring.h"

namespace tenon_vulkan {

class Stream;

// For the host's `launch_failed`.
struct LaunchId {
  void* work = nullptr;
  uint64_t ticket = 0;
  bool operator==(const LaunchId&) const = default;
};

// Between host addresses, when the device has finished.
struct HostCopy {
  const std::byte* from;
  std::byte* to;
  uint64_t size;

  bool writes(const void* begin, uint64_t n) const {
    const auto* const first = static_cast<const std::byte*>(begin);
    return first < to + size && to < first + n;
  }
};

struct Batch {
  Stream* stream = nullptr;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;  // Where there are no timeline semaphores.
  std::chrono::steady_clock::time_point opened;

  // In the order in which the device comes to them; of no use before it is submitted.
  uint64_t number = 0;
  Batch* next = nullptr;
  VkResult result = VK_SUCCESS;  // Of recording and submitting it.

  uint32_t n_commands = 0;
  uint64_t n_products = 0;
  bool has_transfers = false;
  bool has_marks = false;  // Then it is not cut in two, so that nothing is between them.
  std::vector<LaunchId> launches;
  std::vector<HostCopy> host_copies;
  std::vector<Chunk*> spent;
  std::vector<std::unique_ptr<Buffer>> scratch;
  std::vector<std::shared_ptr<DescriptorSets>> sets;
  std::vector<std::shared_ptr<KeptCommands>> kept;

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
