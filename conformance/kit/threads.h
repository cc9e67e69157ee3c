// Threads of checks. Where there are none, as in WebAssembly without shared memory, a Thread runs
// its function at once.

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
