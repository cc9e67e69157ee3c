#include "plugins/vulkan/driver/ring.h"

#include <algorithm>

namespace tenon_vulkan {
namespace {

constexpr size_t kMaxFree = 4;  // Maximum number of chunks that are kept for reuse.
constexpr uint64_t kAlignment = 16;

}  // namespace

Ring::~Ring() {
  for (const auto& chunk : chunks_) destroy_block(driver_, chunk->block);
}

tenon_error* Ring::allocate(uint64_t size, std::vector<Chunk*>& spent, Piece& piece) {
  if (current_ == nullptr || current_->block.size - current_->used < size) {
    if (current_ != nullptr) {
      spent.push_back(current_);
      pending_bytes_ += current_->block.size;
      current_ = nullptr;
    }
    if (tenon_error* error = start_chunk(size)) return error;
  }
  piece = {&current_->block, current_->used};
  const uint64_t end = current_->used + round_up(size, kAlignment);
  current_->used = std::min(end, current_->block.size);
  return nullptr;
}

tenon_error* Ring::start_chunk(uint64_t size) {
  if (!free_.empty() && size <= chunk_bytes_) {
    current_ = free_.back();
    free_.pop_back();
    current_->used = 0;
    return nullptr;
  }
  free_.reserve(chunks_.size() + 1);
  chunks_.reserve(chunks_.size() + 1);
  auto made = std::make_unique<Chunk>(Chunk{*this, {}});
  const uint64_t bytes = std::max(size, chunk_bytes_);
  tenon_error* error = make_block(driver_, bytes, memory_type_, true, made->block);
  if (error != nullptr && other_type_ != memory_type_) {
    driver_.host().release(error);
    error = make_block(driver_, bytes, other_type_, true, made->block);
  }
  if (error != nullptr) return error;
  current_ = made.get();
  chunks_.push_back(std::move(made));
  return nullptr;
}

void Ring::give_back(Chunk& chunk) noexcept {
  pending_bytes_ -= chunk.block.size;
  if (free_.size() < kMaxFree && chunk.block.size == chunk_bytes_) {
    free_.push_back(&chunk);
    return;
  }
  destroy_block(driver_, chunk.block);
  std::erase_if(chunks_, [&](const auto& each) { return each.get() == &chunk; });
}

}  // namespace tenon_vulkan
