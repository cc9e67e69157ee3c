// Work memory for OpenBLAS. OpenBLAS's own allocator retries forever if the system is out of
// memory. A BlasBuffer reserves the memory first, and must live during each call of OpenBLAS.

#pragma once

#include <new>

namespace tenon_simd {

#if defined(TENON_SIMD_LAPACK)

// A work buffer for calls of OpenBLAS on this thread. Buffers are reused and never unmapped. A
// nested BlasBuffer shares the outer buffer.
class BlasBuffer {
 public:
  BlasBuffer() noexcept;
  ~BlasBuffer();
  BlasBuffer(const BlasBuffer&) = delete;
  BlasBuffer& operator=(const BlasBuffer&) = delete;

  // False if there was no memory. OpenBLAS must not be called then.
  explicit operator bool() const { return is_there_; }
  void require() const {
    if (!is_there_) throw std::bad_alloc();
  }

 private:
  bool is_there_ = false;
  bool is_outer_ = false;
};

#endif

}  // namespace tenon_simd
