/* An allocator that fails on request, for tests. The program's malloc() replaces the C library's in
 * every library that the program loads. It needs glibc, which also exports its allocator under
 * other names. */

#ifndef TENON_CAPI_TESTS_MEMORY_FAILING_MALLOC_H_
#define TENON_CAPI_TESTS_MEMORY_FAILING_MALLOC_H_

/* Starts to count allocations at 0. The one with index `first` and the `n` - 1 after it fail; none
 * fails if `n` is 0. An allocation is a call of malloc(), calloc(), realloc(), an aligned
 * form of them, or mmap(). */
void fail_allocations(long first, long n);

/* Number of allocations since the last call of fail_allocations(). */
long count_allocations(void);
long count_failed_allocations(void);

/* Number of blocks that are allocated and not freed. */
long count_live_blocks(void);

#endif /* TENON_CAPI_TESTS_MEMORY_FAILING_MALLOC_H_ */
