// Fixed-size memory for objects that an eager call makes: a free list for each thread, so that a
// handle costs neither a lock nor a call of the allocator.

#pragma once

#include <cstddef>

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
  FreeBlock* next;
};

// One for each thread and type. Constant-initialised and trivially destroyed, so that reaching it
// is one load; `pool_refill` registers what empties it at the thread's end.
struct FreeBlocks {
  FreeBlock* head = nullptr;
  int room = 0;  // How many more it may keep; 0 until the thread's first refill and after its end.
  size_t block_size = 0;
};

void* pool_refill(FreeBlocks& blocks, size_t size);

}  // namespace detail

// Gives T a pooled operator new and delete. T must be final, or all that derive must be as large.
template <class T>
class Pooled {
 public:
  static void* operator new(size_t size) {
    if constexpr (kPoolObjects) {
      detail::FreeBlocks& blocks = blocks_;
      if (detail::FreeBlock* block = blocks.head) [[likely]] {
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
        auto* block = static_cast<detail::FreeBlock*>(object);
        block->next = blocks.head;
        blocks.head = block;
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
