#include "plugins/cuda/testing/emulated_memory.h"

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <vector>

namespace tenon_emulated {
namespace {

constexpr size_t kMargin = 256;  // Size of a guard margin, and the alignment of allocations.
constexpr int kMarginByte = 0xa5, kPoison = 0x7f;

// Rounds up to a multiple of kMargin.
size_t round_up(size_t size) { return (size + kMargin - 1) / kMargin * kMargin; }

}  // namespace

Memory::Memory() : total_(size_t{8} << 30) {
  if (const char* const bytes = std::getenv("TENON_EMULATED_CUDA_MEMORY")) {
    total_ = std::strtoull(bytes, nullptr, 10);
  }
}

void* Memory::allocate(size_t size, const void* context) {
  std::lock_guard guard(mutex_);
  if (size > total_ - used_) return nullptr;
  void* const block = std::aligned_alloc(kMargin, round_up(size) + 2 * kMargin);
  if (block == nullptr) return nullptr;
  try {
    contexts_[static_cast<std::byte*>(block) + kMargin] = context;
    sizes_[static_cast<std::byte*>(block) + kMargin] = size;
  } catch (const std::bad_alloc&) {
    std::free(block);
    return nullptr;
  }
  std::byte* const data = static_cast<std::byte*>(block) + kMargin;
  std::memset(block, kMarginByte, kMargin);
  std::memset(data, kPoison, size);
  std::memset(data + size, kMarginByte, round_up(size) - size + kMargin);
  used_ += size;
  return data;
}

// Frees an allocation. Returns false if `data` is not one. Describes in `fault` a write outside the
// allocation, if there was one.
bool Memory::free(void* data, std::string& fault) {
  std::lock_guard guard(mutex_);
  const auto found = sizes_.find(static_cast<std::byte*>(data));
  if (found == sizes_.end()) return false;
  fault = check_margins(found->first, found->second);
  // Fills freed memory with a pattern, so that tests detect later reads.
  std::memset(data, 0x7e, found->second);
  used_ -= found->second;
  contexts_.erase(found->first);
  sizes_.erase(found);
  std::free(static_cast<std::byte*>(data) - kMargin);
  return true;
}

const void* Memory::context_of(const void* data) const {
  std::lock_guard guard(mutex_);
  const auto after = contexts_.upper_bound(static_cast<const std::byte*>(data));
  return after == contexts_.begin() ? nullptr : std::prev(after)->second;
}

bool Memory::contains(const void* data, size_t size) const {
  std::lock_guard guard(mutex_);
  auto* const begin = static_cast<std::byte*>(const_cast<void*>(data));
  auto next = sizes_.upper_bound(begin);
  if (next == sizes_.begin()) return false;
  --next;
  return begin + size <= next->first + next->second;
}

// Returns a description of a write to the margins of an allocation; empty if there was none.
std::string Memory::check_margins(const std::byte* data, size_t size) const {
  // The bytes of an undamaged margin. The margin after an allocation is shorter than 2 * kMargin.
  static const std::vector<std::byte> margin(2 * kMargin, std::byte{kMarginByte});
  const auto is_whole = [](const std::byte* at, size_t n) {
    return std::memcmp(at, margin.data(), n) == 0;
  };
  const char* where = nullptr;
  if (!is_whole(data - kMargin, kMargin)) where = "before";
  if (!is_whole(data + size, round_up(size) - size + kMargin)) where = "after";
  if (where == nullptr) return {};
  return std::string("out of bounds: something wrote ") + where + " an allocation of " +
         std::to_string(size) + " bytes";
}

// Returns a description of a write outside an allocation; empty if there was none.
std::string Memory::find_write_outside() const {
  std::lock_guard guard(mutex_);
  for (const auto& [data, size] : sizes_) {
    if (std::string fault = check_margins(data, size); !fault.empty()) return fault;
  }
  return {};
}

size_t Memory::used() const {
  std::lock_guard guard(mutex_);
  return used_;
}

Memory& memory() {
  static Memory& memory = *new Memory;
  return memory;
}

}  // namespace tenon_emulated
