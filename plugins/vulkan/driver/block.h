// A piece of the driver's memory with one VkBuffer over all of it. Buffers that the runtime
// allocates, parameters and staging memory are parts of blocks.

#pragma once

#include <cstddef>

#include "plugins/vulkan/driver/driver.h"

namespace tenon_vulkan {

// The driver's memory types, by use.
struct MemoryTypes {
  uint32_t device;         // The host's buffers.
  bool device_is_visible;  // They are mapped: the device shares the host's memory.
  uint32_t parameters;     // Written by the host, read by shaders.
  uint32_t upload;         // Written by the host, copied from.
  uint32_t download;       // Copied to, read by the host.
  uint64_t device_bytes;   // Of the heap that the host's buffers come from.
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
  std::byte* data = nullptr;  // Its address if it is mapped; mapped blocks are coherent.
  bool is_imported = false;   // Imported host memory.
};

tenon_error* make_block(const Driver& driver, uint64_t size, uint32_t memory_type, bool is_mapped,
                        Block& block);
// Imports host memory. `pages` and `size` are multiples of the alignment that the driver requires.
// UNIMPLEMENTED if the driver does not accept the memory nevertheless.
tenon_error* import_block(const Driver& driver, std::byte* pages, uint64_t size, Block& block);
void end_block(const Driver& driver, Block& block);

}  // namespace tenon_vulkan
