// Parallel loops. Results must not depend on the number of threads, so kernels split their work by
// shape only.

#pragma once

#include <cstdint>
#include <type_traits>

#include "plugins/simd/parallel_raw.h"

namespace tenon_simd {

// The thread pool of an instance. A loop with one task runs on the calling thread without overhead.
class Pool {
 public:
  explicit Pool(unsigned threads) : arena_(make_arena(threads)) {}
  ~Pool() { release_arena(arena_); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  unsigned threads() const { return arena_threads(arena_); }

  // Calls body(task) for each task of [0, n_tasks), in parallel.
  template <class Body>  // void(int64_t task)
  void parallel_for(int64_t n_tasks, const Body& body) const {
    if (n_tasks <= 1 || arena_ == nullptr) {
      for (int64_t i = 0; i < n_tasks; ++i) body(i);
      return;
    }
    run(
        n_tasks, [](void* data, int64_t i) { (*static_cast<const Body*>(data))(i); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

  // Splits [0, n) into ranges of at least `grain` and calls body(begin, end) for each. The results
  // of `body` must not depend on the ranges.
  template <class Body>
  void parallel_ranges(int64_t n, int64_t grain, const Body& body) const {
    if (n <= grain || arena_ == nullptr) {
      if (n > 0) body(int64_t{0}, n);
      return;
    }
    // Four ranges per thread balance the load if other processes occupy processors.
    const int64_t most = int64_t{4} * threads();
    int64_t step = (n + most - 1) / most;
    if (step < grain) step = grain;
    step = (step + 63) / 64 * 64;  // Align ranges to cache lines for every dtype.
    run_ranges(n, step, body);
  }

  // Splits [0, n) tasks into ranges like parallel_ranges(), for tasks that consist of many elements
  // each.
  template <class Body>
  void parallel_tasks(int64_t n, int64_t grain, const Body& body) const {
    if (n <= grain || arena_ == nullptr) {
      if (n > 0) body(int64_t{0}, n);
      return;
    }
    const int64_t most = int64_t{4} * threads();
    const int64_t step = (n + most - 1) / most;
    run_ranges(n, step < grain ? grain : step, body);
  }

 private:
  // Calls body(begin, end) for the ranges of length `step` of [0, n), in parallel.
  template <class Body>
  void run_ranges(int64_t n, int64_t step, const Body& body) const {
    parallel_for((n + step - 1) / step, [&](int64_t task) {
      const int64_t begin = task * step;
      body(begin, begin + step < n ? begin + step : n);
    });
  }

  // Calls function(data, i) for each i of [0, n) on the threads of the arena.
  void run(int64_t n, void (*function)(void*, int64_t), void* data) const;

  Arena* arena_;
};

}  // namespace tenon_simd
