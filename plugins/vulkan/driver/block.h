// A VkDeviceMemory allocation with one VkBuffer that covers all of it. The runtime's buffers,
// parameters and staging memory are ranges of blocks.

#pragma once

#include <cstddef>

#include "plugins/vulkan/driver/driver.h"

namespace tenon_vulkan {

// The driver's memory types, by use.
struct MemoryTypes {
  uint32_t device;         // Of the buffers that the runtime allocates.
  bool device_is_visible;  // These buffers are mapped: the device shares the host's memory.
  uint32_t parameters;     // Written by the host, read by shaders.
  uint32_t upload;         // Written by the host; source of copies.
  uint32_t download;       // Destination of copies; read by the host.
  uint64_t device_bytes;   // Size of the heap from which the runtime's buffers are allocated.
};

tenon_error* choose_memory_types(const Driver& driver, MemoryTypes& types);

// Remaining bytes of the memory budget of a type's heap for this process, as the driver reports it.
// Allocations beyond it fail, or evict the memory of others from the device.
uint64_t left_in_budget(const Driver& driver, uint32_t memory_type);

struct Block {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t size = 0;
  uint32_t serial = 0;        // Unique among all blocks, including freed ones.
  std::byte* data = nullptr;  // Host address if the block is mapped; mapped blocks are coherent.
  bool is_imported = false;   // Imported host memory.
};

tenon_error* make_block(const Driver& driver, uint64_t size, uint32_t memory_type, bool is_mapped,
                        Block& block);
// Imports host memory. `pages` and `size` are multiples of the alignment that the driver requires.
// UNIMPLEMENTED if the driver does not accept the memory nevertheless.
tenon_error* import_block(const Driver& driver, std::byte* pages, uint64_t size, Block& block);
void end_block(const Driver& driver, Block& block);

}  // namespace tenon_vulkan
