// The functions by which plugins run tasks on several threads. The CPU plugin implements them with
// oneTBB.

#pragma once

#include <cstdint>

namespace tenon_simd {

struct Arena;

// Creates an arena of at most `threads` threads, including the caller. 0 means one thread per core.
// Returns NULL if the arena would have only one thread.
Arena* make_arena(unsigned threads);
void release_arena(Arena* arena);
unsigned arena_threads(const Arena* arena);

// Runs function(data, i) for every i in [0, n), and returns when all calls have finished. Meanwhile
// the calling thread runs no tasks of other loops. The first loop starts the threads, and throws
// std::bad_alloc if the system cannot start one.
void raw_parallel_for(Arena* arena, int64_t n, void (*function)(void* data, int64_t i), void* data);

}  // namespace tenon_simd
