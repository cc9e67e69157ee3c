#include "core/base/pool.h"

#include <new>
#include <vector>

namespace tenon::detail {
namespace {

// Empties the lists of its thread when the thread ends. What is freed later goes straight back.
struct Sweeper {
  std::vector<FreeBlocks*> lists;

  ~Sweeper() {
    for (FreeBlocks* blocks : lists) {
      blocks->room = 0;
      while (FreeBlock* block = blocks->head) {
        blocks->head = block->next;
        ::operator delete(block);
      }
    }
    lists.clear();
  }
};

thread_local Sweeper sweeper;

}  // namespace

void* pool_refill(FreeBlocks& blocks, size_t size) {
  if (blocks.block_size == 0) {
    blocks.block_size = size;
    blocks.room = kMostKept;
    sweeper.lists.push_back(&blocks);
  }
  return ::operator new(size);
}

}  // namespace tenon::detail
