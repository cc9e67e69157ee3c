// Fixed-size memory for objects behind handles: a free list for each thread, so that a handle costs
// neither a lock nor a call of the allocator.
//
// The last freed block is the next used, while it is in the cache. In debug builds it is the other
// way round, and some freed blocks are held back, so that a handle that was released is still told
// by the mark that ~Object left (see ref.h).

#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon {

// True where freed objects must be seen by the tools that look for their use.
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
  uint64_t untouched;  // Holds the mark.
  FreeBlock* next;
};

#if defined(NDEBUG)
inline constexpr bool kHoldFreed = false;
#else
inline constexpr bool kHoldFreed = true;
#endif
inline constexpr int kMostKept = 4096;  // Freed blocks of one type and thread,
inline constexpr int kHeldBack = 256;   // of which debug builds do not use the last.

// One for each thread and type. Constant-initialised and trivially destroyed, so that reaching it
// is one load; `pool_refill` registers what empties it at the thread's end.
struct FreeBlocks {
  FreeBlock* head = nullptr;
  FreeBlock* tail = nullptr;  // In debug builds only.
  int room = 0;  // How many more it may keep; 0 until the thread's first refill and after its end.
  size_t block_size = 0;
};

void* pool_refill(FreeBlocks& blocks, size_t size);

inline bool may_use(const FreeBlocks& blocks) {
  return !kHoldFreed || blocks.room < kMostKept - kHeldBack;
}

inline void keep(FreeBlocks& blocks, FreeBlock* block) {
  if (kHoldFreed && blocks.head) {
    block->next = nullptr;
    blocks.tail->next = block;
  } else {
    block->next = blocks.head;
    blocks.head = block;
  }
  if (kHoldFreed) blocks.tail = block;
}

}  // namespace detail

// Gives T a pooled operator new and delete. T must be final, or all that derive must be as large.
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
