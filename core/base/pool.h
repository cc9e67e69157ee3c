// Fixed-size allocation for objects with C handles. Each thread has its own free lists, so that a
// handle needs neither a lock nor a call of the allocator.
//
// Release builds reuse the most recently freed block first, while it is in the cache. Debug builds
// reuse the oldest block first and hold some blocks back. A released handle is then recognised by
// the mark that ~Object left (see ref.h).

#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon {

// False under sanitizers, which must see every deallocation to detect use after free.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kPoolObjects = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kPoolObjects = false;
#else
inline constexpr bool kPoolObjects = true;
#endif
#else
inline constexpr bool kPoolObjects = true;
#endif

namespace detail {

struct FreeBlock {
  uint64_t untouched;  // Holds the mark of ~Object.
  FreeBlock* next;
};

#if defined(NDEBUG)
inline constexpr bool kQuarantineFreed = false;
#else
inline constexpr bool kQuarantineFreed = true;
#endif
inline constexpr int kMaxFreeBlocks = 4096;  // Maximum of freed blocks kept, by type and thread.
inline constexpr int kMinFreeBlocks = 256;   // Of these, blocks that debug builds do not reuse.

// One for each thread and type. Constant-initialised and trivially destructible, so that access is
// one load. `pool_refill` registers the cleanup at the end of the thread.
struct FreeBlocks {
  FreeBlock* head = nullptr;
  FreeBlock* tail = nullptr;  // In debug builds only.
  int room = 0;  // How many more blocks fit; 0 before the thread's first refill and after its end.
  size_t block_size = 0;
};

void* pool_refill(FreeBlocks& blocks, size_t size);

inline bool may_use(const FreeBlocks& blocks) {
  return !kQuarantineFreed || blocks.room < kMaxFreeBlocks - kMinFreeBlocks;
}

inline void keep(FreeBlocks& blocks, FreeBlock* block) {
  if (kQuarantineFreed && blocks.head) {
    block->next = nullptr;
    blocks.tail->next = block;
  } else {
    block->next = blocks.head;
    blocks.head = block;
  }
  if (kQuarantineFreed) blocks.tail = block;
}

}  // namespace detail

// Gives T a pooled operator new and delete. T must be final, or all derived classes must have its
// size.
template <class T>
class Pooled {
 public:
  static void* operator new(size_t size) {
    if constexpr (kPoolObjects) {
      detail::FreeBlocks& blocks = blocks_;
      detail::FreeBlock* block = blocks.head;
      if (block && detail::may_use(blocks)) [[likely]] {
        blocks.head = block->next;
        ++blocks.room;
        return block;
      }
      return detail::pool_refill(blocks, size);
    }
    return ::operator new(size);
  }

  static void operator delete(void* object) {
    if constexpr (kPoolObjects) {
      detail::FreeBlocks& blocks = blocks_;
      if (blocks.room > 0) [[likely]] {
        detail::keep(blocks, static_cast<detail::FreeBlock*>(object));
        --blocks.room;
        return;
      }
    }
    ::operator delete(object);
  }

 private:
  static inline constinit thread_local detail::FreeBlocks blocks_{};
};

}  // namespace tenon
