// Implements parallel_raw.h for WebAssembly: with threads in the variant with shared memory,
// without threads in the other variant.

#include "plugins/simd/parallel_raw.h"

#if defined(__EMSCRIPTEN_PTHREADS__)
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

namespace tenon_simd {
namespace {

// Runs one parallel loop at a time. A browser starts a thread only after the page's main thread has
// returned to its event loop. Therefore a loop never waits for a thread that has not joined it.
class Loops {
 public:
  // Runs function(data, i) for every i in [0, n) on the calling thread and on threads that join the
  // loop.
  void run(int64_t n, void (*function)(void*, int64_t), void* data) {
    {
      const std::lock_guard lock(mutex_);
      function_ = function;
      data_ = data;
      n_ = n;
      next_.store(0, std::memory_order_relaxed);
      is_open_ = true;
    }
    opened_.notify_all();
    take_tasks();
    std::unique_lock lock(mutex_);
    is_open_ = false;
    left_.wait(lock, [this] { return joined_ == 0; });
  }

  // The function of a pool thread: joins loops until end() is called.
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      opened_.wait(lock, [this] { return is_ended_ || is_open_; });
      if (is_ended_) return;
      ++joined_;
      lock.unlock();
      take_tasks();
      lock.lock();
      // No task is left to take.
      is_open_ = false;
      if (--joined_ == 0) left_.notify_one();
    }
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      is_ended_ = true;
    }
    opened_.notify_all();
  }

  std::mutex caller;  // Locked by the thread that runs a loop.

 private:
  void take_tasks() {
    for (int64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < n_;) function_(data_, i);
  }

  std::mutex mutex_;
  std::condition_variable opened_, left_;
  bool is_open_ = false, is_ended_ = false;
  unsigned joined_ = 0;
  int64_t n_ = 0;
  void (*function_)(void*, int64_t) = nullptr;
  void* data_ = nullptr;
  std::atomic<int64_t> next_{0};
};

// Whether this thread runs a task of a loop. A loop inside a task runs on the task's thread only.
thread_local bool is_in_loop = false;

}  // namespace

struct Arena {
  explicit Arena(unsigned threads) : threads(threads), loops(std::make_shared<Loops>()) {}

  const unsigned threads;
  // Threads also hold a reference, because some may start after the arena is destroyed.
  const std::shared_ptr<Loops> loops;
  bool has_threads = false;  // Guarded by loops->caller.
};

namespace {

// Starts the pool's threads.
void start_threads(Arena& arena) {
  try {
    for (unsigned i = 1; i < arena.threads; ++i) {
      std::thread([loops = arena.loops] {
        is_in_loop = true;
        loops->work();
      }).detach();
    }
  } catch (const std::system_error&) {
    throw std::bad_alloc();
  }
  arena.has_threads = true;
}

}  // namespace

// Returns a new arena; NULL if one thread suffices. `threads` 0: one per processor core.
Arena* make_arena(unsigned threads) {
  if (threads == 0) threads = std::thread::hardware_concurrency();
  return threads <= 1 ? nullptr : new Arena(threads);
}

// Destroys an arena, which may be NULL, and lets its threads end.
void release_arena(Arena* arena) {
  if (arena != nullptr) arena->loops->end();
  delete arena;
}

// Returns the number of threads of the arena; 1 if it is NULL.
unsigned arena_threads(const Arena* arena) { return arena == nullptr ? 1 : arena->threads; }

// Calls function(data, i) for every i in [0, n), on several threads unless they already run a loop.
void raw_parallel_for(Arena* arena, int64_t n, void (*function)(void*, int64_t), void* data) {
  if (is_in_loop || !arena->loops->caller.try_lock()) {
    for (int64_t i = 0; i < n; ++i) function(data, i);
    return;
  }
  const std::lock_guard caller(arena->loops->caller, std::adopt_lock);
  if (!arena->has_threads) start_threads(*arena);
  is_in_loop = true;
  arena->loops->run(n, function, data);
  is_in_loop = false;
}

}  // namespace tenon_simd

#else
#include "plugins/simd/one_thread.h"

#endif
