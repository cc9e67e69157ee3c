#include "conformance/device/failing_memory.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TENON_KIT_OWNS_MALLOC 1
#include <malloc.h>
#endif

namespace tenon_kit::device {
namespace {

// Number of allocations until one fails: 1 if the next one fails, 0 if none fails.
thread_local uint64_t left = 0;
thread_local int held = 0;
std::atomic<uint64_t> left_of_all{0};

}  // namespace

bool fail_host_memory_at(uint64_t n) {
  const bool was_reached = left == 0;
  left = n;
  return was_reached;
}

uint64_t fail_host_memory_of_all_at(uint64_t n) { return left_of_all.exchange(n); }

uint64_t host_memory_left_by(const std::function<void()>& work) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 4 && least > 0; ++i) {
    const uint64_t before = host_memory_in_use();
    work();
    const uint64_t after = host_memory_in_use();
    least = std::min(least, after - std::min(after, before));
  }
  return least;
}

HostMemoryHolds::HostMemoryHolds() { ++held; }
HostMemoryHolds::~HostMemoryHolds() { --held; }

#if defined(TENON_KIT_OWNS_MALLOC)

// Bytes that the allocation functions below have allocated and not freed. mallinfo2() could not
// tell, because it counts freed memory in a thread's cache as used. Constant-initialised, because
// malloc() may be called before any other code of the program runs.
static std::atomic<uint64_t> bytes_in_use{0};

// Counts an allocation. Returns whether it must fail.
static bool must_fail_allocation() {
  if (held != 0) return false;
  if (left != 0 && --left == 0) return true;
  uint64_t n = left_of_all.load(std::memory_order_relaxed);
  while (n != 0) {
    if (left_of_all.compare_exchange_weak(n, n - 1)) return n == 1;
  }
  return false;
}

// Counts the bytes of allocated memory and returns it.
static void* count_allocated(void* memory) {
  bytes_in_use.fetch_add(malloc_usable_size(memory), std::memory_order_relaxed);
  return memory;
}
// Subtracts the size of freed memory from the bytes in use.
static void count_freed(size_t usable) {
  bytes_in_use.fetch_sub(usable, std::memory_order_relaxed);
}

bool can_fail_host_memory() { return true; }
uint64_t host_memory_in_use() { return bytes_in_use; }

#else

bool can_fail_host_memory() { return false; }
uint64_t host_memory_in_use() { return 0; }

#endif

}  // namespace tenon_kit::device

#if defined(TENON_KIT_OWNS_MALLOC)

// Internal names of glibc's allocation functions, for replacements of malloc.
extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t n, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* memory);

using tenon_kit::device::count_allocated;
using tenon_kit::device::count_freed;
using tenon_kit::device::must_fail_allocation;

void* malloc(size_t size) {
  if (!must_fail_allocation()) return count_allocated(__libc_malloc(size));
  errno = ENOMEM;
  return nullptr;
}

void* calloc(size_t n, size_t size) {
  if (!must_fail_allocation()) return count_allocated(__libc_calloc(n, size));
  errno = ENOMEM;
  return nullptr;
}

void* realloc(void* memory, size_t size) {
  const size_t was = malloc_usable_size(memory);
  void* const now = __libc_realloc(memory, size);
  if (now || size == 0) count_freed(was);
  return count_allocated(now);
}

void* memalign(size_t alignment, size_t size) {
  if (!must_fail_allocation()) return count_allocated(__libc_memalign(alignment, size));
  errno = ENOMEM;
  return nullptr;
}

void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** out, size_t alignment, size_t size) {
  void* const memory = memalign(alignment, size);
  if (memory) *out = memory;
  return memory ? 0 : ENOMEM;
}

void free(void* memory) {
  count_freed(malloc_usable_size(memory));
  __libc_free(memory);
}

}  // extern "C"
#endif
