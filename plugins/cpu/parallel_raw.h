// The C interface to oneTBB: the one place where a task may change threads.

#pragma once

#include <cstdint>

namespace tenon_cpu {

struct Arena;

// An arena for `threads` threads at most, the caller among them; 0 for one each core. NULL where
// one thread is all there is.
Arena* make_arena(unsigned threads);
void release_arena(Arena* arena);
unsigned arena_threads(const Arena* arena);

// Runs function(data, i) for every i of [0, n) and returns when all have finished. Nothing else
// runs on the calling thread meanwhile. The first loop starts the threads, and throws
// std::bad_alloc if the system refuses one.
void raw_parallel_for(Arena* arena, int64_t n, void (*function)(void* data, int64_t i), void* data);

}  // namespace tenon_cpu
