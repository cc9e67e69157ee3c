// A piece of the driver's memory with one VkBuffer over all of it. Buffers of the host, parameters
// and staging are parts of blocks.

#pragma once

#include <cstddef>

#include "plugins/vulkan/driver/driver.h"

namespace tenon_vulkan {

// Which of the driver's types of memory serve what.
struct MemoryTypes {
  uint32_t device;         // The host's buffers.
  bool device_is_visible;  // They have addresses: the device shares the host's memory.
  uint32_t parameters;     // Written by the host, read by shaders.
  uint32_t upload;         // Written by the host, copied from.
  uint32_t download;       // Copied to, read by the host.
  uint64_t device_bytes;   // Of the heap that the host's buffers come from.
};

tenon_error* choose_memory_types(const Driver& driver, MemoryTypes& types);

// How much more of the heap of a type this process is to take, as far as the driver says: what goes
// beyond that fails, or moves what others have out of the device's memory.
uint64_t left_in_budget(const Driver& driver, uint32_t memory_type);

struct Block {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t size = 0;
  uint32_t serial = 0;        // Tells it from every other block, also from those that are gone.
  std::byte* data = nullptr;  // Its address, if it is mapped; then that is coherent.
  bool is_imported = false;   // Of memory that the host has given.
};

tenon_error* make_block(const Driver& driver, uint64_t size, uint32_t memory_type, bool is_mapped,
                        Block& block);
// Of the host's memory, `pages` and `size` multiples of what the driver wants them to be.
// UNIMPLEMENTED where it does not take them all the same.
tenon_error* import_block(const Driver& driver, std::byte* pages, uint64_t size, Block& block);
void end_block(const Driver& driver, Block& block);

}  // namespace tenon_vulkan
