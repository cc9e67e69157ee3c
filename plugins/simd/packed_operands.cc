#include "plugins/simd/packed_operands.h"

#include <new>

namespace tenon_simd {
namespace {

// Maximum total size of the packed forms of one instance. A WebAssembly memory never shrinks, so
// its maximum is lower.
#if defined(__EMSCRIPTEN__)
constexpr size_t kMaxBytes = size_t{64} << 20;
#else
constexpr size_t kMaxBytes = size_t{1} << 30;
#endif

// An entry that is not used during this number of requests is removed.
constexpr uint64_t kMaxAge = 4096;

constexpr std::align_val_t kAlignment{64};

}  // namespace

size_t PackedOperands::Hash::operator()(const Key& key) const {
  uint64_t hash = key.content;
  const auto add = [&](uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
  };
  add(reinterpret_cast<uintptr_t>(key.data));
  for (const int64_t word : key.layout) add(static_cast<uint64_t>(word));
  return static_cast<size_t>(hash);
}

void PackedOperands::remove_unused() {
  std::erase_if(entries_, [&](const auto& item) {
    const Entry& entry = item.second;
    if (entry.last_use + kMaxAge > n_requests_) return false;
    if (entry.memory) bytes_ -= entry.bytes;
    return true;
  });
}

PackedOperands::Memory PackedOperands::find(const Key& key, size_t bytes,
                                            const std::function<void(std::byte*)>& pack) {
  if (key.content == 0) return nullptr;
  {
    const std::lock_guard guard(mutex_);
    if (++n_requests_ % (kMaxAge / 4) == 0) remove_unused();
    const auto [found, is_new] = entries_.try_emplace(key);
    found->second.last_use = n_requests_;
    if (found->second.memory) return found->second.memory;
    if (is_new || bytes > kMaxBytes - bytes_) return nullptr;
  }
  auto* const memory = static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow));
  if (memory == nullptr) return nullptr;
  const Memory made(memory, [](const std::byte* given) {
    ::operator delete(const_cast<std::byte*>(given), kAlignment);
  });
  pack(memory);
  const std::lock_guard guard(mutex_);
  Entry& entry = entries_[key];
  if (entry.memory) return entry.memory;  // Another thread packed it, too.
  if (bytes > kMaxBytes - bytes_) return made;
  entry = {made, bytes, n_requests_};
  bytes_ += bytes;
  return made;
}

}  // namespace tenon_simd
