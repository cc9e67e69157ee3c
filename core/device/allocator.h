// The caching allocator of a device: buffers that are given back are kept, in classes of size, for
// the next that ask. Raw memory comes from the plugin; reuse, limits and statistics are here.
//
// On a synchronous device a buffer can be used again at once. On an asynchronous one the same
// holds, since all its work goes to one stream, which runs in order.

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
  uint64_t live_bytes = 0;      // Held by tensors, as asked for.
  uint64_t peak_bytes = 0;      // The most that live_bytes was.
  uint64_t reserved_bytes = 0;  // Taken from the plugin: live and cached.
  uint64_t live_count = 0;      // Storages held by tensors.
  uint64_t plugin_allocations = 0;
};

class Allocator {
 public:
  Allocator(Device& device, uint64_t limit_bytes) : device_(device), limit_(limit_bytes) {}

  // At least one byte, so that an empty tensor has an address too.
  Ref<Storage> allocate(uint64_t bytes);

  // What the context itself has from now on does not keep it.
  void leave_to_context(Storage& storage);

  // A storage over the host's memory, which `deleter` gives back. NULL if the device cannot import
  // it; the deleter is then untouched.
  Ref<Storage> import(void* data, uint64_t bytes, const tenon_deleter& deleter);

  // Gives cached buffers back to the plugin; returns how many bytes.
  uint64_t trim();

  MemoryStatistics statistics() const;
  void reset_peak();
  void set_limit(uint64_t bytes) { limit_ = bytes; }
  uint64_t limit() const { return limit_; }

 private:
  static constexpr size_t kClasses = 240;

  static void recycle(Storage* storage);
  static void release_import(Storage* storage);
  static void end_import(Storage* storage);
  static size_t class_of(uint64_t bytes);
  static uint64_t class_bytes(size_t size_class);

  Storage* make(uint64_t bytes, size_t size_class);
  void went_live(uint64_t bytes);
  // True for the last, behind which the context need not stay.
  bool went_dead(const Storage& storage);
  [[noreturn]] void fail_out_of_memory(uint64_t bytes, const char* why);

  Device& device_;
  uint64_t limit_;  // Bytes; 0 for none.
  mutable SpinLock lock_;
  std::array<Storage*, kClasses> free_{};
  MemoryStatistics statistics_;
  // Live storages by class, for the message when memory runs out.
  std::array<uint32_t, kClasses> live_of_class_{};
};

}  // namespace tenon
