#include "plugins/cpu/openblas/buffers.h"

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <mutex>

#define TENON_EXPORT __attribute__((visibility("default")))

namespace {

// Size of a buffer. OpenBLAS stores two blocks in a buffer: one of a few MB, and one of at most 640
// rows of a matrix. With the longest rows that kernels/lapack.cc permits, these take 160 MiB. Pages
// that are not accessed take no memory.
constexpr size_t kSize = size_t{256} << 20;

// A free buffer begins with this struct.
struct Free {
  Free* next;
};

constinit std::mutex free_mutex;
constinit Free* first_free = nullptr;

constinit std::atomic<bool> served{false};

// The buffer that enter() reserved for this thread, and whether OpenBLAS uses it now.
constinit thread_local void* own = nullptr;
constinit thread_local bool is_own_used = false;
constinit thread_local int depth = 0;

// Returns a buffer, or NULL if memory is exhausted.
void* acquire() {
  {
    const std::lock_guard guard(free_mutex);
    if (first_free != nullptr) {
      Free* const buffer = first_free;
      first_free = buffer->next;
      return buffer;
    }
  }
  void* const memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// Returns a buffer to the list of free buffers.
void release(void* buffer) {
  const std::lock_guard guard(free_mutex);
  Free* const node = static_cast<Free*>(buffer);
  node->next = first_free;
  first_free = node;
}

// Reserves a buffer for this thread at the outermost call; see TenonBlasBuffers::enter. Returns
// false if memory is exhausted.
bool enter() {
  if (depth == 0) {
    own = acquire();
    if (own == nullptr) return false;
    is_own_used = false;
  }
  ++depth;
  return true;
}

// Releases the buffer of this thread at the outermost call; see TenonBlasBuffers::enter.
void leave() {
  if (--depth > 0) return;
  release(own);
  own = nullptr;
}

bool was_called_by_openblas() { return served.load(std::memory_order_relaxed); }

}  // namespace

extern "C" {

TENON_EXPORT extern const TenonBlasBuffers tenon_blas_buffers;
const TenonBlasBuffers tenon_blas_buffers = {enter, leave, was_called_by_openblas};

// blas_memory_alloc() and blas_memory_free() replace the functions of OpenBLAS with these names.
// Outside enter() and leave(), they are called by threads that OpenBLAS started, and by other users
// of this copy of OpenBLAS.
TENON_EXPORT void* blas_memory_alloc(int /*position*/);
void* blas_memory_alloc(int) {
  served.store(true, std::memory_order_relaxed);
  if (own == nullptr || is_own_used) return acquire();
  is_own_used = true;
  return own;
}

TENON_EXPORT void blas_memory_free(void* buffer);
void blas_memory_free(void* buffer) {
  if (buffer == nullptr) return;
  if (buffer == own) {
    is_own_used = false;
  } else {
    release(buffer);
  }
}

}  // extern "C"
