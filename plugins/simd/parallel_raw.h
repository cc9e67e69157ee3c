// The C interface to oneTBB. Tasks cross threads only here.

#pragma once

#include <cstdint>

namespace tenon_simd {

struct Arena;

// Creates an arena of at most `threads` threads, including the caller; 0 for one per core. NULL if
// there is only one thread.
Arena* make_arena(unsigned threads);
void release_arena(Arena* arena);
unsigned arena_threads(const Arena* arena);

// Runs function(data, i) for every i of [0, n) and returns when all have finished. Meanwhile the
// calling thread runs nothing else. The first loop starts the threads, and throws std::bad_alloc if
// the system refuses one.
void raw_parallel_for(Arena* arena, int64_t n, void (*function)(void* data, int64_t i), void* data);

}  // namespace tenon_simd
