// A ring of pinned host memory, which stages small copies. Space is released in the order in which
// it was taken. The driver copies to and from pinned memory asynchronously.

#pragma once

#include <cstdint>

#include "plugins/cuda/driver/driver.h"

namespace tenon_cuda {

class Staging {
 public:
  static constexpr uint64_t kBytes = 4 << 20;
  static constexpr uint64_t kLargestCopy = 1 << 20;

  Staging(const Driver& driver, CUcontext context) : driver_(driver), context_(context) {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging();

  // Returns space for a copy of at most kLargestCopy bytes; NULL if earlier copies must be released
  // first.
  std::byte* take(uint64_t size);
  // End of the space that was taken so far.
  uint64_t position() const { return taken_; }
  // Releases the space up to a position.
  void release(uint64_t position) { released_ = position; }
  // Allocates the memory before the first use.
  tenon_error* open();

 private:
  const Driver& driver_;
  const CUcontext context_;
  std::byte* data_ = nullptr;
  uint64_t taken_ = 0,
           released_ = 0;  // Total bytes taken and released so far; the bytes between are in use.
};

}  // namespace tenon_cuda
