// Pinned host memory through which small copies go, as a ring: what was taken first is given back
// first. The driver copies to and from pinned memory without waiting.

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

  // NULL: there is no room until earlier copies are given back. At most kLargestCopy.
  std::byte* take(uint64_t size);
  // All that was taken until now ends here.
  uint64_t position() const { return taken_; }
  // Gives back what was taken up to a position.
  void release(uint64_t position) { released_ = position; }
  // Allocates the memory before the first use.
  tenon_error* open();

 private:
  const Driver& driver_;
  const CUcontext context_;
  std::byte* data_ = nullptr;
  uint64_t taken_ = 0, released_ = 0;  // Bytes since the beginning; the ring holds those between.
};

}  // namespace tenon_cuda
