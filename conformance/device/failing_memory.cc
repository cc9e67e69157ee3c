#include "conformance/device/failing_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TENON_KIT_OWNS_MALLOC 1
#include <malloc.h>
#endif

namespace tenon_kit::device {
namespace {

thread_local uint64_t left = 0;  // Allocations until one fails, it included; 0: none does.
thread_local int held = 0;

}  // namespace

bool fail_host_memory_at(uint64_t n) {
  const bool was_reached = left == 0;
  left = n;
  return was_reached;
}

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

// Asked by the functions below, which may run before anything else of this program does.
static bool fails_now() { return left != 0 && held == 0 && --left == 0; }

bool can_fail_host_memory() { return true; }
uint64_t host_memory_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

#else

bool can_fail_host_memory() { return false; }
uint64_t host_memory_in_use() { return 0; }

#endif

}  // namespace tenon_kit::device

#if defined(TENON_KIT_OWNS_MALLOC)

// The C library's own under the names by which it lets itself be replaced; `free` and `realloc`
// stay its.
extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t n, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  if (!tenon_kit::device::fails_now()) return __libc_malloc(size);
  errno = ENOMEM;
  return nullptr;
}

void* calloc(size_t n, size_t size) {
  if (!tenon_kit::device::fails_now()) return __libc_calloc(n, size);
  errno = ENOMEM;
  return nullptr;
}

void* aligned_alloc(size_t alignment, size_t size) {
  if (!tenon_kit::device::fails_now()) return __libc_memalign(alignment, size);
  errno = ENOMEM;
  return nullptr;
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  if (tenon_kit::device::fails_now()) return ENOMEM;
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : ENOMEM;
}

}  // extern "C"
#endif
