// Threads for checks. On platforms without threads, such as WebAssembly without shared memory, a
// Thread runs its function immediately.

#pragma once

#include <thread>

namespace tenon_kit {

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
inline constexpr bool kHasThreads = false;

class Thread {
 public:
  template <class Run>
  explicit Thread(Run&& run) {
    run();
  }
  void join() {}
};
#else
inline constexpr bool kHasThreads = true;
using Thread = std::thread;
#endif

}  // namespace tenon_kit
