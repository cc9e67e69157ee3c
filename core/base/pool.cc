#include "core/base/pool.h"

#include <pthread.h>

#include <new>

namespace tenon::detail {
namespace {

// Free lists of one thread. Trivially destructible: other thread-local and static objects may make
// and release handles in their destructors, after any destructor of ours has run.
struct Lists {
  static constexpr int kMax = 64;

  FreeBlocks* lists[kMax] = {};
  int n = 0;
  bool is_swept = false;
};
constinit thread_local Lists own_lists;

// Frees the blocks that a thread kept. Blocks freed later go straight back to the allocator.
void sweep(void* swept) {
  auto* const own = static_cast<Lists*>(swept);
  own->is_swept = true;
  for (int i = 0; i < own->n; ++i) {
    FreeBlocks* const blocks = own->lists[i];
    blocks->room = 0;
    while (FreeBlock* block = blocks->head) {
      blocks->head = block->next;
      ::operator delete(block);
    }
    blocks->tail = nullptr;
  }
  own->n = 0;
}

// Calls `sweep` at the end of each thread that stored a value, after the destructors of its
// thread_local objects. A thread_local object with a destructor would not do: registering one ends
// the process if there is no memory for it.
struct SweepKey {
  pthread_key_t key = 0;
  bool is_made = false;

  SweepKey() { is_made = pthread_key_create(&key, sweep) == 0; }
};

// Whether the thread's end will empty `blocks`.
bool register_list(FreeBlocks& blocks) {
  static const SweepKey sweep_key;
  Lists& own = own_lists;
  if (own.is_swept || own.n == Lists::kMax || !sweep_key.is_made) return false;
  if (own.n == 0 && pthread_setspecific(sweep_key.key, &own) != 0) return false;
  own.lists[own.n++] = &blocks;
  return true;
}

}  // namespace

void* pool_refill(FreeBlocks& blocks, size_t size) {
  if (blocks.block_size == 0 && register_list(blocks)) {
    blocks.block_size = size;
    blocks.room = kMostKept;
  }
  return ::operator new(size);
}

}  // namespace tenon::detail
