// The caching allocator of a device. It takes memory from the plugin, and keeps freed buffers in
// size classes for reuse. It also enforces the memory limit and maintains statistics.
//
// A freed buffer can be reused immediately, also on an asynchronous device: the queue makes the new
// owner's work follow the old owner's (WorkQueue::MemoryUse).

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ref.h"
#include "core/base/spin_lock.h"
#include "core/tensor/storage.h"

struct tenon_deleter;

namespace tenon {

class Device;

struct MemoryStatistics {
  uint64_t live_bytes = 0;      // Bytes held by tensors, as requested.
  uint64_t peak_bytes = 0;      // The maximum of live_bytes.
  uint64_t reserved_bytes = 0;  // Bytes allocated from the plugin: live and cached.
  uint64_t live_count = 0;      // Storages held by tensors.
  uint64_t plugin_allocations = 0;
};

class Allocator {
 public:
  Allocator(Device& device, uint64_t limit_bytes) : device_(device), limit_(limit_bytes) {}

  // Allocates at least one byte, so that an empty tensor also has an address.
  Ref<Storage> allocate(uint64_t bytes);

  // Gives the storage a new content number, because its elements will be overwritten.
  void renew_content(Storage& storage);

  // Transfers a storage to the context (the constants of a launch plan, for example), so that it no
  // longer keeps the context alive.
  void make_context_owned(Storage& storage);

  // Wraps host memory, which `deleter` releases. Returns NULL if the device cannot import it; the
  // deleter is then not called.
  Ref<Storage> import(void* data, uint64_t bytes, const tenon_deleter& deleter);

  // Returns cached buffers to the plugin. Returns the number of bytes freed.
  uint64_t trim();

  MemoryStatistics statistics() const;
  // Resets peak_bytes to live_bytes.
  void reset_peak();
  void set_limit(uint64_t bytes) { limit_ = bytes; }
  uint64_t limit() const { return limit_; }

 private:
  static constexpr size_t kClasses = 240;

  // Called when the last reference to a storage is released: returns it to its free list.
  static void recycle(Storage* storage);
  // Called when the last reference to imported memory is released.
  static void release_import(Storage* storage);
  // Releases imported memory that no work uses any more.
  static void end_import(Storage* storage);
  // Returns the smallest size class with at least this many bytes.
  static size_t class_of(uint64_t bytes);
  // Returns the size of a class in bytes.
  static uint64_t class_bytes(size_t size_class);

  // Allocates a storage of this size class from the plugin. `bytes`: the requested size.
  Storage* make(uint64_t bytes, size_t size_class);
  // Adds a storage of this requested size to the statistics.
  void count_allocation(uint64_t bytes);
  // Returns true if this was the last live storage. The caller then releases the context.
  bool count_release(const Storage& storage);
  [[noreturn]] void fail_out_of_memory(uint64_t bytes, const char* why);

  Device& device_;
  uint64_t limit_;  // Bytes; 0 for none.
  mutable SpinLock lock_;
  uint64_t last_content_ = 0;  // The highest content number in use.
  std::array<Storage*, kClasses> free_{};
  MemoryStatistics statistics_;
  // Number of live storages in each size class, for the out-of-memory message.
  std::array<uint32_t, kClasses> live_of_class_{};
};

}  // namespace tenon
