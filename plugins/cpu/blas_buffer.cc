#include "plugins/cpu/blas_buffer.h"

#if defined(TENON_SIMD_LAPACK)

#include <sys/mman.h>

#include <cstddef>
#include <mutex>
#include <utility>

// The linker redirects OpenBLAS's calls to these functions (CMakeLists.txt). They also lock its
// table of buffers: the serial build of OpenBLAS searches it without a lock, so two threads could
// get the same buffer.
extern "C" {
void* __real_blas_memory_alloc(int position);
void __real_blas_memory_free(void* buffer);
void* __wrap_blas_memory_alloc(int position);
void __wrap_blas_memory_free(void* buffer);
void* __real_mmap(void* address, size_t size, int protection, int flags, int file, off_t offset);
void* __wrap_mmap(void* address, size_t size, int protection, int flags, int file, off_t offset);
}

namespace {

// Guards everything below, and OpenBLAS's table.
constinit std::mutex buffers_mutex;

// OpenBLAS has 128 buffers, and can add 512 once.
constexpr size_t kMaxBuffers = 640;
constinit void* spare[kMaxBuffers] = {};
constinit size_t n_free_buffers = 0;

// Memory reserved for the next buffer. Its size is at least what any build of OpenBLAS maps, and
// exact after the first mapping.
constinit size_t buffer_size = size_t{256} << 20;
constinit char* reserved = nullptr;

// The buffer of this thread's calls, and whether it is free right now.
constinit thread_local void* own = nullptr;
constinit thread_local bool is_own_free = false;

char* map(size_t size) {
  void* const memory =
      __real_mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

// Acquires a buffer of OpenBLAS; NULL if there is no memory for one.
void* acquire() {
  const std::lock_guard guard(buffers_mutex);
  if (n_free_buffers > 0) return spare[--n_free_buffers];
  const size_t size = buffer_size;
  reserved = map(size);
  if (reserved == nullptr) return nullptr;
  void* const buffer = __real_blas_memory_alloc(0);
  if (char* const rest = std::exchange(reserved, nullptr)) munmap(rest, size);
  return buffer;
}

void release(void* buffer) {
  const std::lock_guard guard(buffers_mutex);
  if (n_free_buffers < kMaxBuffers) {
    spare[n_free_buffers++] = buffer;
  } else {
    __real_blas_memory_free(buffer);
  }
}

}  // namespace

// Called only by OpenBLAS, with the mutex held; nothing else in the plugin maps memory.
void* __wrap_mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if (reserved == nullptr || size > buffer_size) {
    return __real_mmap(address, size, protection, flags, file, offset);
  }
  char* const memory = std::exchange(reserved, nullptr);
  if (size < buffer_size) munmap(memory + size, buffer_size - size);
  buffer_size = size;
  return memory;
}

void* __wrap_blas_memory_alloc(int position) {
  if (std::exchange(is_own_free, false)) return own;
  const std::lock_guard guard(buffers_mutex);
  return __real_blas_memory_alloc(position);
}

void __wrap_blas_memory_free(void* buffer) {
  if (buffer == own) {
    is_own_free = true;
    return;
  }
  const std::lock_guard guard(buffers_mutex);
  __real_blas_memory_free(buffer);
}

namespace tenon_simd {

BlasBuffer::BlasBuffer() noexcept {
  if (own == nullptr) {
    own = acquire();
    is_outer_ = is_own_free = own != nullptr;
  }
  is_there_ = own != nullptr;
}

BlasBuffer::~BlasBuffer() {
  if (!is_outer_) return;
  is_own_free = false;
  release(std::exchange(own, nullptr));
}

}  // namespace tenon_simd

#endif
