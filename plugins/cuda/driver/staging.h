// A ring buffer of pinned host memory for small copies, because the driver copies asynchronously
// only to and from pinned memory. Space is released in the order in which it was taken.

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

  // Returns space for a copy of at most kLargestCopy bytes; NULL if the space of earlier copies
  // must be released first.
  std::byte* take(uint64_t size);
  // Returns the end of the space that was taken so far, in bytes since the beginning.
  uint64_t position() const { return taken_; }
  // Releases all space before a value that position() returned.
  void release(uint64_t position) { released_ = position; }
  // Allocates the memory before the first use.
  tenon_error* allocate();

 private:
  const Driver& driver_;
  const CUcontext context_;
  std::byte* data_ = nullptr;
  uint64_t taken_ = 0,
           released_ = 0;  // Total bytes taken and released so far; the bytes between are in use.
};

}  // namespace tenon_cuda
