// The memory that OpenBLAS works in. Its own allocator retries for ever if the system has none, so
// each call of OpenBLAS is made while a BlasBuffer lives, which found the memory before.

#pragma once

#include <new>

namespace tenon_cpu {

#if defined(TENON_CPU_OPENBLAS)

// A work buffer for the calls of OpenBLAS on this thread. Buffers are reused, and never unmapped.
// A nested one shares the buffer of the outer one.
class BlasBuffer {
 public:
  BlasBuffer() noexcept;
  ~BlasBuffer();
  BlasBuffer(const BlasBuffer&) = delete;
  BlasBuffer& operator=(const BlasBuffer&) = delete;

  // False if there was no memory for it. OpenBLAS must not be called then.
  explicit operator bool() const { return is_there_; }
  void require() const {
    if (!is_there_) throw std::bad_alloc();
  }

 private:
  bool is_there_ = false;
  bool is_outer_ = false;
};

#endif

}  // namespace tenon_cpu
