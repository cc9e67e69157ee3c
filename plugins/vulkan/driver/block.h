// A VkDeviceMemory allocation with one VkBuffer that covers all of it. The runtime's buffers,
// parameters and staging memory are ranges of blocks.

#pragma once

#include <cstddef>

#include "plugins/vulkan/driver/driver.h"

namespace tenon_vulkan {

// Rounds a size up to a multiple of the alignment.
inline uint64_t round_up(uint64_t size, uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

// Indices of the driver's memory types for each use.
struct MemoryTypes {
  uint32_t device;         // For buffers that the runtime allocates.
  bool device_is_visible;  // Whether these buffers are mapped.
  uint32_t parameters;     // For memory that the host writes and shaders read.
  uint32_t upload;         // For sources of copies to the device.
  uint32_t download;       // For destinations of copies to the host.
  uint64_t device_bytes;   // Size of the heap from which the runtime's buffers are allocated.
};

// Selects a memory type of the device for each use.
tenon_error* choose_memory_types(const Driver& driver, MemoryTypes& types);

// Returns the bytes that this process may still allocate from the heap of a memory type, according
// to the driver's memory budget. Allocations beyond the budget fail, or evict the memory of other
// processes from the device.
uint64_t remaining_budget_bytes(const Driver& driver, uint32_t memory_type);

struct Block {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t size = 0;
  uint32_t serial = 0;        // Unique among all blocks, including freed ones.
  std::byte* data = nullptr;  // Host address if the block is mapped; mapped blocks are coherent.
  bool is_imported = false;   // Whether the block is imported host memory.
};

// Allocates a block. `is_mapped`: whether the block is mapped into host memory.
tenon_error* make_block(const Driver& driver, uint64_t size, uint32_t memory_type, bool is_mapped,
                        Block& block);
// Imports host memory. `pages` and `size` are multiples of the alignment that the driver requires.
// Returns UNIMPLEMENTED if the driver still rejects the memory.
tenon_error* import_block(const Driver& driver, std::byte* pages, uint64_t size, Block& block);
// Destroys the buffer of a block and frees or releases its memory.
void destroy_block(const Driver& driver, Block& block);

}  // namespace tenon_vulkan
