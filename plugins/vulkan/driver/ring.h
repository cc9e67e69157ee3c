// Host-visible memory for parameters, uploads and downloads. Pieces of chunks are allocated; whole
// chunks are returned after the work that used them has completed.

#pragma once

#include <memory>
#include <vector>

#include "plugins/vulkan/driver/block.h"

namespace tenon_vulkan {

class Ring;

struct Chunk {
  Ring& ring;
  Block block;
  uint64_t used = 0;
};

// A range of a chunk for one use.
struct Piece {
  const Block* block;
  uint64_t offset;
  std::byte* data() const { return block->data + offset; }
};

class Ring {
 public:
  // `other_type` is the fallback if memory of the first type is exhausted.
  Ring(const Driver& driver, uint32_t memory_type, uint32_t other_type, uint64_t chunk_bytes)
      : driver_(driver),
        memory_type_(memory_type),
        other_type_(other_type),
        chunk_bytes_(chunk_bytes) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring();

  // Allocates a piece at an offset that is a multiple of 16 bytes. Appends full chunks to `spent`,
  // whose owner later returns them by give_back().
  tenon_error* allocate(uint64_t size, std::vector<Chunk*>& spent, Piece& piece);
  // Returns a chunk that no work in flight uses any more.
  void give_back(Chunk& chunk) noexcept;
  // Reuses the current chunk from its beginning. Requires that no work in flight uses the chunk.
  void restart() {
    if (current_ != nullptr) current_->used = 0;
  }

  // Returns the size in bytes of all chunks that are in `spent` lists and not yet returned.
  uint64_t pending_bytes() const { return pending_bytes_; }

 private:
  // Makes a free or a new chunk of at least `size` bytes the current chunk.
  tenon_error* start_chunk(uint64_t size);

  const Driver& driver_;
  const uint32_t memory_type_, other_type_;
  const uint64_t chunk_bytes_;
  uint64_t pending_bytes_ = 0;
  Chunk* current_ = nullptr;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  // Chunks that can be reused. Has capacity for all chunks, so that returning one does not
  // allocate.
  std::vector<Chunk*> free_;
};

}  // namespace tenon_vulkan
