// Device memory, counted. What a tensor and its views share.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/pool.h"
#include "core/base/ref.h"

struct tenon_buffer_p;

namespace tenon {

class Device;

class Storage : public Pooled<Storage> {
 public:
  // Gives the memory back, or keeps it for the next that asks; frees the storage.
  using Recycle = void (*)(Storage*);

  explicit Storage(Recycle recycle) : recycle_(recycle) {}

  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (count_.load(std::memory_order_acquire) == 1 ||
        count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      recycle_(this);
    }
  }
  // Views, tapes, exports and variables count.
  uint32_t owners() const { return count_.load(std::memory_order_acquire); }
  void reuse() { count_.store(1, std::memory_order_relaxed); }

  Device* device = nullptr;
  tenon_buffer_p* buffer = nullptr;
  std::byte* data = nullptr;  // Where the host sees it; NULL on a device that is not visible.
  uint64_t size = 0;          // Bytes asked for.
  uint64_t capacity = 0;      // Bytes of the buffer.
  bool imported = false;      // Somebody else's memory: never written, never donated.
  bool traced = false;        // Of a tensor of a trace: there is no memory (core/trace/tracer.h).
  bool of_context = false;    // Of something that the context has, and not of a tensor.
  bool list = false;          // Of a list of tensors: there is no memory (core/trace/lists.h).
  uint64_t written = 0;       // Of an asynchronous device: the ticket of what wrote it last.
  Storage* next_free = nullptr;
  void* import_payload = nullptr;  // Of imported memory: what gives it back.
  void (*import_release)(void*) = nullptr;

 private:
  mutable std::atomic<uint32_t> count_{1};
  Recycle recycle_;
};

// A storage that stands for something else than memory of an allocator, as `Self` says.
template <class Self>
class OtherStorage : public Storage {
 public:
  OtherStorage() : Storage([](Storage* self) { delete static_cast<Self*>(self); }) {}
  // Larger than its base, whose pool has no room for it.
  static void* operator new(size_t size) { return ::operator new(size); }
  static void operator delete(void* self) { ::operator delete(self); }
};

}  // namespace tenon
