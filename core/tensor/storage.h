// Reference-counted device memory, shared by a tensor and its views.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/pool.h"
#include "core/base/ref.h"

struct tenon_buffer_p;

namespace tenon {

class Device;

// Index of a stream of an asynchronous device; 0 is the device's default stream.
using StreamId = uint8_t;

// The streams that have used a storage on an asynchronous device. The lock of the device's
// WorkQueue guards it.
struct StreamUse {
  uint64_t last = 0;     // Ticket of the last work that used the storage.
  uint32_t streams = 0;  // Bit set of the streams that have used it since its last write.
  StreamId writer = 0;   // Stream of the last writer.
};

class Storage : public Pooled<Storage> {
 public:
  // Releases the memory or caches it for reuse, and frees the storage.
  using Recycle = void (*)(Storage*);

  explicit Storage(Recycle recycle) : recycle_(recycle) {}

  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  // Releases one reference; the last one recycles the storage.
  void release() {
    if (count_.load(std::memory_order_acquire) == 1 ||
        count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      recycle_(this);
    }
  }
  // The number of references. Views, tapes, exports and variables count as owners.
  uint32_t owners() const { return count_.load(std::memory_order_acquire); }
  // Gives a recycled storage its first owner again.
  void reuse() { count_.store(1, std::memory_order_relaxed); }

  Device* device = nullptr;
  tenon_buffer_p* buffer = nullptr;
  std::byte* data = nullptr;  // The host's pointer; NULL if the device is not host-visible.
  uint64_t size = 0;          // Requested size in bytes.
  uint64_t capacity = 0;      // Size of the buffer in bytes.
  bool imported = false;      // External memory: never written, never donated.
  bool traced = false;        // Belongs to a traced tensor and has no memory (core/trace/tracer.h).
  bool is_context_owned = false;  // Owned by the context, not by a tensor.
  bool list = false;  // Belongs to a tensor list and has no memory (core/trace/control/lists.h).
  // Identifies the elements (tenon_view.content): changes with every write, except the first ones,
  // which precede all reads. 0 if the host does not see all writes.
  std::atomic<uint64_t> content{0};
  uint64_t written = 0;   // On an asynchronous device: ticket of the last writer.
  mutable StreamUse use;  // On an asynchronous device.
  Storage* next_free = nullptr;
  void* import_payload = nullptr;  // For imported memory: the argument of import_release.
  void (*import_release)(void*) = nullptr;

 private:
  mutable std::atomic<uint32_t> count_{1};
  Recycle recycle_;
};

// Base class of storages without memory of their own, such as those of traced tensors and of lists.
template <class Self>
class NonMemoryStorage : public Storage {
 public:
  NonMemoryStorage() : Storage([](Storage* self) { delete static_cast<Self*>(self); }) {}
  // Allocates from the heap: the blocks in the pool of Storage are too small for Self.
  static void* operator new(size_t size) { return ::operator new(size); }
  static void operator delete(void* self) { ::operator delete(self); }
};

}  // namespace tenon
