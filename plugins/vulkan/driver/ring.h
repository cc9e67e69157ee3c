// Memory that the host and the device hand to and fro: parameters, what is to be copied to the
// device, what was copied from it. It is taken piece after piece and comes back by the chunk, once
// the work that used it has finished.

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
  // `other_type` serves where there is no more of the first.
  Ring(const Driver& driver, uint32_t memory_type, uint32_t other_type, uint64_t chunk_bytes)
      : driver_(driver),
        memory_type_(memory_type),
        other_type_(other_type),
        chunk_bytes_(chunk_bytes) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring();

  // A piece that begins at a multiple of 16. Chunks that are used up go to `spent`; what takes them
  // gives them back.
  tenon_error* take(uint64_t size, std::vector<Chunk*>& spent, Piece& piece);
  void give_back(Chunk& chunk) noexcept;
  // No work uses any of it.
  void restart() {
    if (current_ != nullptr) current_->used = 0;
  }

  // In chunks that are spent and not given back.
  uint64_t spent_bytes() const { return spent_bytes_; }

 private:
  tenon_error* next_chunk(uint64_t size);

  const Driver& driver_;
  const uint32_t memory_type_, other_type_;
  const uint64_t chunk_bytes_;
  uint64_t spent_bytes_ = 0;
  Chunk* current_ = nullptr;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Chunk*> free_;  // Has room for all chunks.
};

}  // namespace tenon_vulkan
