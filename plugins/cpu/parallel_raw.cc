// Implements parallel_raw.h with oneTBB. This file is compiled without ThreadSanitizer, which
// cannot detect oneTBB's synchronisation; parallel.cc declares it.

#include "plugins/simd/parallel_raw.h"

#if defined(TENON_CPU_TBB)
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <new>
#include <optional>
#include <stdexcept>

namespace tenon_simd {

struct Arena {
  Arena(int threads, int cores) : arena(threads), threads(static_cast<unsigned>(threads)) {
    if (threads <= cores) return;
    more_than_cores.emplace(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads));
  }
  // Permits more threads than cores. By default, oneTBB starts at most one thread per core.
  std::optional<tbb::global_control> more_than_cores;
  tbb::task_arena arena;
  unsigned threads;
  std::atomic<bool> has_threads{false};
};

namespace {

// Starts the threads of an arena by a loop that does nothing. If the system cannot start a thread,
// oneTBB may leave tasks queued. The tasks of this loop do not refer to the stack, so they may run
// later.
void start_threads(Arena& self) {
  try {
    self.arena.execute([&] {
      tbb::parallel_for(
          0U, self.threads, [](unsigned) {}, tbb::simple_partitioner());
    });
  } catch (const std::runtime_error&) {
    throw std::bad_alloc();
  }
  self.has_threads.store(true, std::memory_order_release);
}

}  // namespace

// Creates an arena with this number of threads; 0: one for each core. NULL for a single thread.
Arena* make_arena(unsigned threads) {
  const int cores = tbb::info::default_concurrency();
  const int wanted = threads == 0 ? cores : static_cast<int>(threads);
  return wanted <= 1 ? nullptr : new Arena(wanted, cores);
}

void release_arena(Arena* arena) { delete arena; }

// Returns the number of threads of an arena.
unsigned arena_threads(const Arena* arena) { return arena == nullptr ? 1 : arena->threads; }

// Calls function(data, i) for each i below n, on the threads of the arena. The loop is isolated: a
// thread that waits for its loop does not run tasks of other callers. Such a task could use scratch
// memory or locks that the waiting thread already uses.
void raw_parallel_for(Arena* arena, int64_t n, void (*function)(void*, int64_t), void* data) {
  if (!arena->has_threads.load(std::memory_order_acquire)) start_threads(*arena);
  arena->arena.execute([&] {
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(
          tbb::blocked_range<int64_t>(0, n, 1),
          [&](const tbb::blocked_range<int64_t>& range) {
            for (int64_t i = range.begin(); i < range.end(); ++i) function(data, i);
          },
          tbb::simple_partitioner());
    });
  });
}

}  // namespace tenon_simd

#else
#include "plugins/simd/one_thread.h"

#endif
