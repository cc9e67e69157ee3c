// Fixed-size allocation for objects with C handles. Each thread has its own free lists, so that
// creating a handle needs neither a lock nor a call of malloc.
//
// Release builds reuse the most recently freed block first, while it is in the cache. Debug builds
// reuse the oldest block first and keep the most recently freed ones in quarantine. While a block
// is not reused, it holds Kind::kDead (see ref.h), by which the use of a released handle is
// detected.

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
  uint64_t untouched;  // Holds Kind::kDead, which ~Object wrote.
  FreeBlock* next;
};

#if defined(NDEBUG)
inline constexpr bool kQuarantineFreed = false;
#else
inline constexpr bool kQuarantineFreed = true;
#endif
// Maximum number of freed blocks kept per type and thread.
inline constexpr int kMaxFreeBlocks = 4096;
// Number of freed blocks that debug builds keep in quarantine.
inline constexpr int kMinFreeBlocks = 256;

// The free list of one type in one thread. Constant-initialised and trivially destructible, so that
// access is one load. pool_refill() registers the cleanup at the end of the thread.
struct FreeBlocks {
  FreeBlock* head = nullptr;
  FreeBlock* tail = nullptr;  // Used in debug builds only.
  // Number of blocks that the list can still take. 0 before the first refill and after the thread
  // has ended.
  int room = 0;
  size_t block_size = 0;
};

// Allocates a block when no free one can be reused.
void* pool_refill(FreeBlocks& blocks, size_t size);

// Whether the free block at the head may be reused. Debug builds quarantine the last ones.
inline bool can_reuse_block(const FreeBlocks& blocks) {
  return !kQuarantineFreed || blocks.room < kMaxFreeBlocks - kMinFreeBlocks;
}

// Adds a freed block: at the head in release builds, at the tail in debug builds.
inline void push_free_block(FreeBlocks& blocks, FreeBlock* block) {
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

// Base class that provides a pooled operator new and delete. T must be final, or all classes
// derived from T must have the size of T.
template <class T>
class Pooled {
 public:
  static void* operator new(size_t size) {
    if constexpr (kPoolObjects) {
      detail::FreeBlocks& blocks = blocks_;
      detail::FreeBlock* block = blocks.head;
      if (block && detail::can_reuse_block(blocks)) [[likely]] {
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
        detail::push_free_block(blocks, static_cast<detail::FreeBlock*>(object));
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
