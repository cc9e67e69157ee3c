#include "plugins/vulkan/driver/memory.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tenon_vulkan {
namespace {

constexpr uint64_t kSharedBytes = uint64_t{64} << 20;
constexpr uint64_t kMinSharedBytes = uint64_t{1} << 20;

// Minimum size of imported host memory in bytes. For less memory, a copy is faster.
constexpr uint64_t kMinImportedBytes = uint64_t{16} << 10;

// Returns the size of blocks that several buffers share: at most 1/32 of the heap unless the heap
// is tiny, and at most the size that one descriptor can bind. So one descriptor serves all buffers
// of the block.
uint64_t shared_block_bytes(const Driver& driver, const MemoryTypes& types) {
  const uint64_t part = std::bit_floor(std::max<uint64_t>(types.device_bytes / 32, 1));
  const uint64_t seen = driver.physical().capabilities.max_operand_bytes;
  return std::min({std::clamp(part, kMinSharedBytes, kSharedBytes), std::bit_floor(seen),
                   std::bit_floor(driver.physical().max_buffer_bytes)});
}

}  // namespace

Memory::Memory(const Driver& driver, const MemoryTypes& types)
    : driver_(driver),
      types_(types),
      alignment_(std::max<uint64_t>(
          256, driver.physical().properties.limits.minStorageBufferOffsetAlignment)),
      max_bytes_(std::min(driver.physical().max_buffer_bytes, types.device_bytes) / alignment_ *
                 alignment_),
      shared_bytes_(shared_block_bytes(driver, types)) {}

Memory::~Memory() {
  for (const auto& each : blocks_) destroy_block(driver_, each->block);
}

tenon_error* Memory::allocate(uint64_t size, std::unique_ptr<Buffer>& buffer) {
  if (driver_.is_lost()) return driver_.lost_error();
  std::lock_guard guard(mutex_);
  if (size > max_bytes_) return too_large_error(size);
  if (tenon_error* error = try_allocate(size, buffer)) return error;
  allocated_ += size;
  peak_ = std::max(peak_, allocated_);
  ++allocations_;
  return nullptr;
}

tenon_error* Memory::too_large_error(uint64_t size) const {
  return driver_.error(TENON_OUT_OF_MEMORY, "cannot allocate " + std::to_string(size) +
                                                " bytes: the maximum size of a buffer is " +
                                                std::to_string(max_bytes_) + ", and " +
                                                std::to_string(allocated_) + " are in use");
}

tenon_error* Memory::try_allocate(uint64_t size, std::unique_ptr<Buffer>& buffer) {
  const uint64_t room = round_up(std::max<uint64_t>(size, 1), alignment_);
  if (room <= shared_bytes_) {
    buffer = place_buffer(size, room);
    if (buffer != nullptr) return nullptr;
  }
  tenon_error* error = add_block(std::max(room, shared_bytes_));
  if (error != nullptr && room < shared_bytes_ && !driver_.is_lost()) {
    // Retries with a smaller block that holds only this buffer.
    driver_.host().release(error);
    error = add_block(room);
  }
  if (error != nullptr) return error;
  buffer = place_buffer(*blocks_.back(), size, room);
  return nullptr;
}

tenon_error* Memory::add_block(uint64_t size) {
  if (const uint64_t left = remaining_budget_bytes(driver_, types_.device); size > left) {
    return driver_.error(TENON_OUT_OF_MEMORY, "cannot allocate " + std::to_string(size) +
                                                  " bytes: the driver's memory budget has only " +
                                                  std::to_string(left) + " bytes left");
  }
  auto made = std::make_unique<OwnedBlock>();
  made->free.push_back({0, size});
  reserve_block_entry();
  if (tenon_error* error =
          make_block(driver_, size, types_.device, types_.device_is_visible, made->block)) {
    return error;
  }
  blocks_.push_back(std::move(made));
  return nullptr;
}

void Memory::reserve_block_entry() {
  if (blocks_.capacity() == blocks_.size()) blocks_.reserve(2 * blocks_.size() + 1);
}

// Imports the pages that contain the memory. The memory must begin and end at multiples of 4 bytes,
// because shaders write whole words and must not change bytes outside the memory.
tenon_error* Memory::import(void* data, uint64_t size, std::unique_ptr<Buffer>& buffer) {
  const uint64_t alignment = driver_.physical().import_alignment;
  const uint64_t offset = reinterpret_cast<uintptr_t>(data) % alignment;
  if (size < kMinImportedBytes || size > max_bytes_ - 2 * alignment || size % 4 != 0 ||
      offset % kTexelBytes != 0) {
    return driver_.error(TENON_UNIMPLEMENTED,
                         "cannot import " + std::to_string(size) +
                             " bytes: imported memory must be aligned to words and have " +
                             std::to_string(kMinImportedBytes) + " to " +
                             std::to_string(max_bytes_) + " bytes");
  }
  std::lock_guard guard(mutex_);
  const auto n_imported = static_cast<uint64_t>(std::count_if(
      blocks_.begin(), blocks_.end(), [](const auto& each) { return each->block.is_imported; }));
  // Drivers may limit the number of allocations to 4096. Imports use at most half of them.
  if (n_imported >= driver_.physical().properties.limits.maxMemoryAllocationCount / 2) {
    return driver_.error(TENON_UNIMPLEMENTED,
                         "cannot import more memory: " + std::to_string(n_imported) +
                             " allocations are imported, which is the maximum");
  }
  auto made = std::make_unique<OwnedBlock>();
  std::unique_ptr<Buffer> of_it(new Buffer{*this, made->block, offset, size});
  reserve_block_entry();
  if (tenon_error* error = import_block(driver_, static_cast<std::byte*>(data) - offset,
                                        round_up(offset + size, alignment), made->block)) {
    return error;
  }
  blocks_.push_back(std::move(made));
  buffer = std::move(of_it);
  return nullptr;
}

std::unique_ptr<Buffer> Memory::place_buffer(uint64_t size, uint64_t room) {
  for (const auto& each : blocks_) {
    if (auto buffer = place_buffer(*each, size, room)) return buffer;
  }
  return nullptr;
}

// Finds a free range by first fit. n buffers leave at most n + 1 free ranges, so with this many
// reserved, release() does not allocate.
std::unique_ptr<Buffer> Memory::place_buffer(OwnedBlock& block, uint64_t size, uint64_t room) {
  const auto range = std::find_if(block.free.begin(), block.free.end(),
                                  [&](const Range& each) { return each.size >= room; });
  if (range == block.free.end()) return nullptr;
  const Range found = *range;
  const size_t index = static_cast<size_t>(range - block.free.begin());
  if (const size_t most = block.n_buffers + 2; block.free.capacity() < most) {
    block.free.reserve(2 * most);
  }
  std::unique_ptr<Buffer> buffer(new Buffer{*this, block.block, found.offset, size});
  if (found.size == room) {
    block.free.erase(block.free.begin() + static_cast<ptrdiff_t>(index));
  } else {
    block.free[index] = {found.offset + room, found.size - room};
  }
  ++block.n_buffers;
  return buffer;
}

void Memory::release(std::unique_ptr<Buffer> buffer) noexcept {
  std::lock_guard guard(mutex_);
  const auto block = std::find_if(blocks_.begin(), blocks_.end(),
                                  [&](const auto& each) { return &each->block == &buffer->block; });
  if (buffer->block.is_imported) return free_block(block);
  allocated_ -= buffer->size;
  add_free(**block, {buffer->offset, round_up(std::max<uint64_t>(buffer->size, 1), alignment_)});
  if (--(*block)->n_buffers == 0) free_if_unused(block);
}

// Merges the range with adjacent free ranges.
void Memory::add_free(OwnedBlock& block, Range range) noexcept {
  auto next = std::find_if(block.free.begin(), block.free.end(),
                           [&](const Range& each) { return each.offset > range.offset; });
  if (next != block.free.end() && range.offset + range.size == next->offset) {
    range.size += next->size;
    next = block.free.erase(next);
  }
  if (next != block.free.begin()) {
    Range& before = *(next - 1);
    if (before.offset + before.size == range.offset) {
      before.size += range.size;
      return;
    }
  }
  block.free.insert(next, range);
}

// Frees an empty block, but keeps one shared block for the next buffer.
void Memory::free_if_unused(Blocks::iterator block) noexcept {
  const auto is_empty = [&](const auto& each) {
    return each != *block && each->n_buffers == 0 && each->block.size == shared_bytes_;
  };
  const bool is_shared = (*block)->block.size == shared_bytes_;
  if (is_shared && std::none_of(blocks_.begin(), blocks_.end(), is_empty)) return;
  free_block(block);
}

void Memory::free_block(Blocks::iterator block) noexcept {
  destroy_block(driver_, (*block)->block);
  blocks_.erase(block);
}

tenon_memory_statistics Memory::statistics() const {
  std::lock_guard guard(mutex_);
  return {.struct_size = 0,
          .reserved = 0,
          .allocated_bytes = allocated_,
          .peak_bytes = peak_,
          .allocations = allocations_};
}

}  // namespace tenon_vulkan
