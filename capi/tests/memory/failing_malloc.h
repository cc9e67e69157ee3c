/* An allocator that fails on request. The test program defines malloc(), which replaces the C
 * library's in all shared libraries that it loads. Requires glibc, which exports its own allocator
 * under other names, too. */

#ifndef TENON_CAPI_TESTS_MEMORY_FAILING_MALLOC_H_
#define TENON_CAPI_TESTS_MEMORY_FAILING_MALLOC_H_

/* Restarts the count of allocations at 0. From index `first` on, `n` allocations fail; none if `n`
 * is 0. Counts calls of malloc(), calloc(), realloc(), mmap() and functions for aligned memory,
 * except those made while OpenBLAS is loaded. */
void fail_allocations(long first, long n);

/* Returns the number of allocations since the last call of fail_allocations(). */
long count_allocations(void);
long count_failed_allocations(void);

/* Returns the number of blocks that are allocated and not freed. */
long count_live_blocks(void);

#endif /* TENON_CAPI_TESTS_MEMORY_FAILING_MALLOC_H_ */
