#include "core/base/pool.h"

#include <pthread.h>

#include <algorithm>
#include <new>

namespace tenon::detail {
namespace {

// The free lists of one thread. Trivially destructible, because other thread-local and static
// objects may create and release handles in destructors that run last.
struct Lists {
  static constexpr int kMax = 64;

  FreeBlocks* lists[kMax] = {};
  int n = 0;
  bool is_swept = false;
};
constinit thread_local Lists own_lists;

// Frees a thread's cached blocks. Blocks that are freed later go directly to the allocator.
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
// thread_local objects. A thread_local object with a destructor does not work: if memory runs out,
// registering its destructor terminates the process.
struct SweepKey {
  pthread_key_t key = 0;
  bool is_made = false;

  SweepKey() { is_made = pthread_key_create(&key, sweep) == 0; }
};

// Registers `blocks`, whose blocks are freed at the end of the thread. Returns false on failure.
bool register_list(FreeBlocks& blocks) {
  static const SweepKey sweep_key;
  Lists& own = own_lists;
  if (own.is_swept || own.n == Lists::kMax || !sweep_key.is_made) return false;
  if (own.n == 0 && pthread_setspecific(sweep_key.key, &own) != 0) return false;
  own.lists[own.n++] = &blocks;
  return true;
}

}  // namespace

// Allocates a block when no free one can be reused.
void* pool_refill(FreeBlocks& blocks, size_t size) {
  // malloc merges a freed block of hundreds of bytes with its neighbours and splits it again later.
  // This costs several cache misses. Therefore release builds keep up to 32 MiB of blocks (61,000
  // tensors).
  constexpr size_t kKeptBytes = size_t{32} << 20;
  if (blocks.block_size == 0 && register_list(blocks)) {
    blocks.block_size = size;
    const auto kept = static_cast<int>(kKeptBytes / size);
    blocks.room = kQuarantineFreed ? kMaxFreeBlocks : std::max(kMaxFreeBlocks, kept);
  }
  return ::operator new(size);
}

}  // namespace tenon::detail
