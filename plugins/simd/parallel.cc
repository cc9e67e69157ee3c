#include "plugins/simd/parallel.h"

#if defined(__SANITIZE_THREAD__)
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace tenon_simd {

#if defined(__SANITIZE_THREAD__)

// ThreadSanitizer cannot detect oneTBB's synchronisation, so annotations declare it: code before
// the loop happens before each task, and each task happens before code after the loop.
void Pool::run(int64_t n, void (*function)(void*, int64_t), void* data) const {
  struct Loop {
    void (*function)(void*, int64_t);
    void* data;
    char fork, join;
  } loop{function, data, 0, 0};
  __tsan_release(&loop.fork);
  raw_parallel_for(
      arena_, n,
      [](void* data, int64_t i) {
        Loop& loop = *static_cast<Loop*>(data);
        __tsan_acquire(&loop.fork);
        loop.function(loop.data, i);
        __tsan_release(&loop.join);
      },
      &loop);
  __tsan_acquire(&loop.join);
}

#else

void Pool::run(int64_t n, void (*function)(void*, int64_t), void* data) const {
  raw_parallel_for(arena_, n, function, data);
}

#endif

}  // namespace tenon_simd
