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

// An entry that is not used during this number of requests is removed at the next multiple of it.
constexpr uint64_t kMaxAge = 4096;

constexpr std::align_val_t kAlignment{64};

// The entries are a hash table of kSets sets with kWays entries each.
constexpr size_t kSets = 256, kWays = 4;

size_t set_of(const PackedOperands::Key& key) {
  uint64_t hash = key.content ^ reinterpret_cast<uintptr_t>(key.data);
  for (const int64_t word : key.layout) {
    hash = (hash ^ static_cast<uint64_t>(word)) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
  }
  return hash % kSets;
}

}  // namespace

void PackedOperands::clear(Entry& entry) {
  if (entry.memory) bytes_ -= entry.bytes;
  entry = {};
}

PackedOperands::Entry& PackedOperands::entry_of(const Key& key) {
  Entry* const begin = entries_.data() + set_of(key) * kWays;
  Entry* oldest = begin;
  for (Entry* entry = begin; entry < begin + kWays; ++entry) {
    if (entry->key == key) return *entry;
    if (entry->last_use < oldest->last_use) oldest = entry;
  }
  clear(*oldest);
  oldest->key = key;
  return *oldest;
}

PackedOperands::Memory PackedOperands::find(const Key& key, size_t bytes, const void* pack,
                                            void (*call)(const void* pack, std::byte* to)) {
  if (key.content == 0) return nullptr;
  {
    const std::lock_guard guard(mutex_);
    if (entries_.empty()) entries_.resize(kSets * kWays);
    if (++n_requests_ % kMaxAge == 0) {
      for (Entry& entry : entries_) {
        if (entry.last_use + kMaxAge < n_requests_) clear(entry);
      }
    }
    Entry& entry = entry_of(key);
    const bool is_new = entry.last_use == 0;
    entry.last_use = n_requests_;
    if (entry.memory) return entry.memory;
    if (is_new || bytes > kMaxBytes - bytes_) return nullptr;
  }
  auto* const memory = static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow));
  if (memory == nullptr) return nullptr;
  const Memory made(memory, [](const std::byte* given) {
    ::operator delete(const_cast<std::byte*>(given), kAlignment);
  });
  call(pack, memory);
  const std::lock_guard guard(mutex_);
  Entry& entry = entry_of(key);
  if (entry.memory) return entry.memory;  // Another thread packed it, too.
  entry.last_use = n_requests_;
  if (bytes > kMaxBytes - bytes_) return made;
  entry.memory = made;
  entry.bytes = bytes;
  bytes_ += bytes;
  return made;
}

}  // namespace tenon_simd
