// Device functions that are compiled at their first launch, not when they are prepared, because the
// host also prepares kernels that it never launches.

#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "plugins/cuda/encoder.h"

namespace tenon_cuda {

template <size_t n>
class LazyFunctions {
 public:
  explicit LazyFunctions(const std::array<const char*, n>& names) : names_(names) {}

  // Returns the functions in `functions`, after compiling the result of `source()` in the first
  // call. If compiling fails, returns an error, and the next launch tries again.
  template <class Source>
  tenon_error* get(tenon_device_p* device, const std::string& name, const Source& source,
                   const Function** functions) const {
    *functions = functions_;
    if (are_ready_.load(std::memory_order_acquire)) return nullptr;
    std::lock_guard guard(mutex_);
    if (are_ready_) return nullptr;
    if (tenon_error* error = make_functions(device, name, source(), names_, functions_)) {
      return error;
    }
    are_ready_.store(true, std::memory_order_release);
    return nullptr;
  }

 private:
  const std::array<const char*, n> names_;
  mutable std::mutex mutex_;
  mutable std::atomic<bool> are_ready_{false};
  mutable Function functions_[n] = {};
};

}  // namespace tenon_cuda
