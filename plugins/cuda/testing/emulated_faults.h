// Makes calls of the emulated libraries fail on request, for tests of the plugin's error handling.
//
// TENON_EMULATED_CUDA_FAIL="cuMemAlloc_v2:3" makes the third call of cuMemAlloc_v2 in this process
// fail. "cuMemAlloc_v2:3+" makes the third and all later calls fail. "cuEventSynchronize:1=719"
// makes the first call return result 719. A test can set the same strings at run time by
// tenon_emulated_fail().

#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace tenon_emulated {

struct Fault {
  std::mutex mutex;
  std::string name;
  long call = 0, n_calls = 0;
  int result = 0;  // The result of the failing call; 0: a typical error of the function.
  bool and_all_later = false;
  std::atomic<bool> is_set{false}, has_failed{false};

  // Sets the fault that a string such as "cuMemAlloc_v2:3" describes. NULL: no call fails.
  void set(const char* text) {
    std::lock_guard guard(mutex);
    has_failed = false;
    const char* const colon = text != nullptr ? std::strchr(text, ':') : nullptr;
    is_set = colon != nullptr;
    if (colon == nullptr) return;
    name.assign(text, colon);
    call = std::atol(colon + 1);
    and_all_later = std::strchr(colon, '+') != nullptr;
    const char* const equals = std::strchr(colon, '=');
    result = equals != nullptr ? std::atoi(equals + 1) : 0;
    n_calls = 0;
  }
};

// Returns the fault of this library, initially that of TENON_EMULATED_CUDA_FAIL.
inline Fault& fault() {
  static Fault& fault = [&]() -> Fault& {
    static Fault made;
    made.set(std::getenv("TENON_EMULATED_CUDA_FAIL"));
    return made;
  }();
  return fault;
}

// Counts a call of a function and returns the error that it must return, or 0 if it must not fail.
// The default error is an unknown error or, for allocations, out of memory.
inline int injected(const char* name) {
  Fault& wanted = fault();
  if (!wanted.is_set) return 0;
  std::lock_guard guard(wanted.mutex);
  if (wanted.name != name) return 0;
  ++wanted.n_calls;
  const bool fails =
      wanted.n_calls == wanted.call || (wanted.and_all_later && wanted.n_calls > wanted.call);
  if (!fails) return 0;
  wanted.has_failed = true;
  if (wanted.result != 0) return wanted.result;
  if (std::strstr(name, "nvrtc") != nullptr) return 11;  // NVRTC_ERROR_INTERNAL_ERROR
  return std::strstr(name, "Alloc") != nullptr ? 2 : 999;
}

}  // namespace tenon_emulated

extern "C" __attribute__((visibility("default"))) inline __attribute__((used)) void
tenon_emulated_fail(const char* text) {
  tenon_emulated::fault().set(text);
}
// Whether a call has failed since the fault was set.
extern "C" __attribute__((visibility("default"))) inline __attribute__((used)) bool
tenon_emulated_has_failed() {
  return tenon_emulated::fault().has_failed;
}
