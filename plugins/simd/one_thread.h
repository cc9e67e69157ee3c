// Implements parallel_raw.h without threads. A plugin includes it in the file that otherwise
// implements parallel_raw.h with threads.

#pragma once

#include "plugins/simd/parallel_raw.h"

namespace tenon_simd {

Arena* make_arena(unsigned) { return nullptr; }
void release_arena(Arena*) {}
unsigned arena_threads(const Arena*) { return 1; }
void raw_parallel_for(Arena*, int64_t n, void (*function)(void*, int64_t), void* data) {
  for (int64_t i = 0; i < n; ++i) function(data, i);
}

}  // namespace tenon_simd
