#define _GNU_SOURCE
#include "capi/tests/memory/failing_malloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t n, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* block);

static long n_allocations, n_failed, n_live;
static __thread int is_loading_openblas;
static long first_to_fail, end_of_failures;

void fail_allocations(long first, long n) {
  __atomic_store_n(&end_of_failures, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n(&first_to_fail, first, __ATOMIC_SEQ_CST);
  __atomic_store_n(&n_allocations, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n(&n_failed, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n(&end_of_failures, first + n, __ATOMIC_SEQ_CST);
}

long count_allocations(void) { return __atomic_load_n(&n_allocations, __ATOMIC_SEQ_CST); }
long count_failed_allocations(void) { return __atomic_load_n(&n_failed, __ATOMIC_SEQ_CST); }
long count_live_blocks(void) { return __atomic_load_n(&n_live, __ATOMIC_SEQ_CST); }

static int fails(void) {
  if (is_loading_openblas) return 0;
  const long i = __atomic_fetch_add(&n_allocations, 1, __ATOMIC_RELAXED);
  if (i < __atomic_load_n(&first_to_fail, __ATOMIC_RELAXED) ||
      i >= __atomic_load_n(&end_of_failures, __ATOMIC_RELAXED)) {
    return 0;
  }
  __atomic_fetch_add(&n_failed, 1, __ATOMIC_RELAXED);
  errno = ENOMEM;
  return 1;
}

static void* counted(void* block) {
  if (block) __atomic_fetch_add(&n_live, 1, __ATOMIC_RELAXED);
  return block;
}

void* malloc(size_t size) { return fails() ? NULL : counted(__libc_malloc(size)); }

void* calloc(size_t n, size_t size) { return fails() ? NULL : counted(__libc_calloc(n, size)); }

void* realloc(void* block, size_t size) {
  if (fails()) return NULL;
  return block ? __libc_realloc(block, size) : counted(__libc_malloc(size));
}

void free(void* block) {
  if (block) __atomic_fetch_sub(&n_live, 1, __ATOMIC_RELAXED);
  __libc_free(block);
}

void* memalign(size_t alignment, size_t size) {
  return fails() ? NULL : counted(__libc_memalign(alignment, size));
}

void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** out_block, size_t alignment, size_t size) {
  void* const block = memalign(alignment, size);
  if (!block) return ENOMEM;
  *out_block = block;
  return 0;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if (fails()) return MAP_FAILED;
  return (void*)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}

/* Loads a library. No allocation fails while OpenBLAS is loaded: the Fortran runtime library, which
 * OpenBLAS needs, would end the process, and the plugin `cpu` cannot prevent that. */
void* dlopen(const char* file, int flags) {
  void* (*open_library)(const char*, int);
  void* library;
  *(void**)&open_library = dlsym(RTLD_NEXT, "dlopen");
  is_loading_openblas = file != NULL && strstr(file, "openblas") != NULL;
  library = open_library(file, flags);
  is_loading_openblas = 0;
  return library;
}
