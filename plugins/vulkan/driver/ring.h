// Memory that the host and the device use in turn: parameters, uploads and downloads. It is
// allocated in pieces and returned in chunks, once the work that used a chunk has completed.

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

// A piece of a chunk.
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

  // Allocates a piece that begins at a multiple of 16. Full chunks are added to `spent`; its owner
  // returns them with give_back().
  tenon_error* take(uint64_t size, std::vector<Chunk*>& spent, Piece& piece);
  void give_back(Chunk& chunk) noexcept;
  // Reuses the current chunk from its beginning: no work uses it.
  void restart() {
    if (current_ != nullptr) current_->used = 0;
  }

  // Bytes of the chunks in `spent` lists, which are not yet returned.
  uint64_t pending_bytes() const { return pending_bytes_; }

 private:
  tenon_error* next_chunk(uint64_t size);

  const Driver& driver_;
  const uint32_t memory_type_, other_type_;
  const uint64_t chunk_bytes_;
  uint64_t pending_bytes_ = 0;
  Chunk* current_ = nullptr;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Chunk*> free_;  // Reserved for all chunks, so that returning one does not allocate.
};

}  // namespace tenon_vulkan
