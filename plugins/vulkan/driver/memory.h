// Allocates the buffers of the plugin interface. A buffer is either a range of a block that several
// buffers share, or a whole block.

#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "plugins/vulkan/driver/block.h"

namespace tenon_vulkan {

class Memory;

struct Buffer {
  Memory& memory;
  const Block& block;
  uint64_t offset;  // Offset of the buffer in its block.
  uint64_t size;

  std::byte* data() const { return block.data == nullptr ? nullptr : block.data + offset; }
};

class Memory {
 public:
  Memory(const Driver& driver, const MemoryTypes& types);
  ~Memory();

  uint64_t max_buffer_bytes() const { return max_bytes_; }
  tenon_error* allocate(uint64_t size, std::unique_ptr<Buffer>& buffer);
  // Whether host memory can be imported and the device accesses it as quickly as its own memory.
  bool can_import() const {
    return types_.device_is_visible && driver_.physical().import_alignment > 0;
  }
  // Makes a buffer from host memory, without a copy.
  tenon_error* import(void* data, uint64_t size, std::unique_ptr<Buffer>& buffer);
  void release(std::unique_ptr<Buffer> buffer) noexcept;
  tenon_memory_statistics statistics() const;

 private:
  struct Range {
    uint64_t offset, size;
  };
  struct OwnedBlock {
    Block block;
    std::vector<Range> free;  // Free ranges, sorted by offset. Adjacent ranges are merged.
    size_t n_buffers = 0;
  };
  using Blocks = std::vector<std::unique_ptr<OwnedBlock>>;

  // Place a buffer of `size` bytes in a free range of `room` bytes: of this block, or of any block.
  // `room` is `size` rounded up to the alignment. Return NULL if no range is large enough.
  std::unique_ptr<Buffer> place_buffer(OwnedBlock& block, uint64_t size, uint64_t room);
  std::unique_ptr<Buffer> place_buffer(uint64_t size, uint64_t room);
  // Allocates a block of `size` bytes from the driver.
  tenon_error* add_block(uint64_t size);
  // Reserves capacity for one more element of blocks_.
  void reserve_block_entry();
  // Places the buffer in an existing block or in a new one.
  tenon_error* try_allocate(uint64_t size, std::unique_ptr<Buffer>& buffer);
  tenon_error* too_large_error(uint64_t size) const;
  void add_free(OwnedBlock& block, Range range) noexcept;
  void free_if_unused(Blocks::iterator block) noexcept;
  void free_block(Blocks::iterator block) noexcept;

  const Driver& driver_;
  const MemoryTypes types_;
  const uint64_t alignment_;
  const uint64_t max_bytes_;
  const uint64_t shared_bytes_;  // Size of a block that several buffers share.
  mutable std::mutex mutex_;
  Blocks blocks_;
  uint64_t allocated_ = 0, peak_ = 0, allocations_ = 0;
};

inline Buffer& from_c(tenon_buffer_p* buffer) { return *reinterpret_cast<Buffer*>(buffer); }

}  // namespace tenon_vulkan
