#include "core/device/allocator.h"

#include <tenon/types.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

#include "core/base/error.h"
#include "core/device/device.h"

namespace tenon {
namespace {

// Size classes: multiples of 64 bytes up to 1024 bytes, then four classes per power of two. Above
// 1024 bytes, rounding up to a class wastes less than a quarter of the memory.
constexpr uint64_t kStep = 64;
constexpr size_t kSmallClasses = 16;
constexpr int kSmallBits = 10;  // 1024 = 2^10.

// Wraps a plugin's buffer in a Storage. If host memory for the Storage is exhausted, releases the
// buffer and throws.
Storage* storage_of(Device& device, tenon_buffer_p* buffer, Storage::Recycle recycle) {
  Storage* storage;
  try {
    storage = new Storage(recycle);
  } catch (...) {
    device.calls().release(buffer);
    throw;
  }
  storage->device = &device;
  storage->buffer = buffer;
  return storage;
}

}  // namespace

// Returns the smallest size class with at least this many bytes.
size_t Allocator::class_of(uint64_t bytes) {
  if (bytes <= kStep * kSmallClasses) return bytes == 0 ? 0 : (bytes - 1) / kStep;
  const int top = 63 - std::countl_zero(bytes - 1);  // 2^top < bytes <= 2^(top + 1).
  const uint64_t quarter = uint64_t{1} << (top - 2);
  const uint64_t quarters = (bytes - (uint64_t{1} << top) + quarter - 1) / quarter;  // 1 to 4.
  return kSmallClasses + static_cast<size_t>(top - kSmallBits) * 4 + quarters - 1;
}

uint64_t Allocator::class_bytes(size_t size_class) {
  if (size_class < kSmallClasses) return (size_class + 1) * kStep;
  const size_t rest = size_class - kSmallClasses;
  const auto top = static_cast<int>(rest / 4) + kSmallBits;
  return (uint64_t{1} << top) + (rest % 4 + 1) * (uint64_t{1} << (top - 2));
}

Ref<Storage> Allocator::allocate(uint64_t bytes) {
  if (bytes > uint64_t{1} << 62) fail_out_of_memory(bytes, "more than 2^62 bytes");
  const size_t size_class = class_of(bytes);
  Storage* storage;
  {
    std::lock_guard guard(lock_);
    storage = free_[size_class];
    if (storage) [[likely]] {
      free_[size_class] = storage->next_free;
      count_allocation(bytes);
      ++live_of_class_[size_class];
      storage->content.store(++last_content_, std::memory_order_relaxed);
    }
  }
  if (!storage) [[unlikely]]
    storage = make(bytes, size_class);
  storage->reuse();
  storage->size = bytes;
  return Ref<Storage>::adopt(storage);
}

// Counts one more live storage. The caller holds lock_. The first live storage retains the context,
// because tensors may outlive the user's handle to the context.
void Allocator::count_allocation(uint64_t bytes) {
  if (statistics_.live_count++ == 0) device_.retain();
  statistics_.live_bytes += bytes;
  statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.live_bytes);
}

// Allocates a storage of this size class from the plugin. `bytes`: the requested size.
Storage* Allocator::make(uint64_t bytes, size_t size_class) {
  const uint64_t capacity = class_bytes(size_class);
  // Requests above the device's memory are refused here. A system that overcommits memory would
  // grant them and kill the process on the first write to a missing page.
  const uint64_t all = device_.properties().memory_bytes;
  if (all != 0 && capacity > all) {
    fail_out_of_memory(bytes, format("the device has {}", {all}).c_str());
  }
  if (limit_ != 0 && statistics().reserved_bytes + capacity > limit_) {
    trim();
    if (statistics().reserved_bytes + capacity > limit_) {
      fail_out_of_memory(bytes, "above the memory limit of the device");
    }
  }
  const tenon_plugin_calls& calls = device_.calls();
  tenon_buffer_p* buffer = nullptr;
  tenon_error* error = calls.allocate(device_.handle(), capacity, &buffer);
  if (error) {
    device_.discard(error);
    trim();
    error = calls.allocate(device_.handle(), capacity, &buffer);
  }
  if (error) {
    device_.discard(error);
    fail_out_of_memory(bytes, "the device is out of memory");
  }
  Storage* const storage = storage_of(device_, buffer, recycle);
  storage->capacity = capacity;
  if (device_.host_visible()) storage->data = static_cast<std::byte*>(calls.map(buffer));

  std::lock_guard guard(lock_);
  statistics_.reserved_bytes += capacity;
  ++statistics_.plugin_allocations;
  ++live_of_class_[size_class];
  count_allocation(bytes);
  storage->content.store(++last_content_, std::memory_order_relaxed);
  return storage;
}

void Allocator::renew_content(Storage& storage) {
  std::lock_guard guard(lock_);
  storage.content.store(++last_content_, std::memory_order_relaxed);
}

// Returns a storage, whose last reference was released, to the free list of its size class.
void Allocator::recycle(Storage* storage) {
  Allocator& self = storage->device->allocator();
  const size_t size_class = class_of(storage->capacity);
  storage->written = 0;
  bool last = false;
  {
    std::lock_guard guard(self.lock_);
    if (!std::exchange(storage->is_context_owned, false)) last = self.count_release(*storage);
    storage->next_free = self.free_[size_class];
    self.free_[size_class] = storage;
  }
  if (last) self.device_.release();  // May destroy the context, and this allocator with it.
}

// Subtracts a storage from the statistics. The caller holds lock_.
bool Allocator::count_release(const Storage& storage) {
  --live_of_class_[class_of(storage.capacity)];
  statistics_.live_bytes -= storage.size;
  return --statistics_.live_count == 0;
}

// Transfers a storage to the context, so that it no longer keeps the context alive.
void Allocator::make_context_owned(Storage& storage) {
  bool last = false;
  {
    std::lock_guard guard(lock_);
    if (!std::exchange(storage.is_context_owned, true)) last = count_release(storage);
  }
  if (last) device_.release();
}

Ref<Storage> Allocator::import(void* data, uint64_t bytes, const tenon_deleter& deleter) {
  const tenon_plugin_calls& calls = device_.calls();
  if (!device_.has(TENON_FEATURE_IMPORT_HOST) || bytes == 0) return nullptr;
  tenon_buffer_p* buffer = nullptr;
  if (tenon_error* error = calls.import_host(device_.handle(), data, bytes, &buffer)) {
    device_.discard(error);
    return nullptr;
  }
  Storage* const storage = storage_of(device_, buffer, release_import);
  storage->size = storage->capacity = bytes;
  storage->imported = true;
  storage->import_payload = deleter.payload;
  storage->import_release = deleter.function;
  if (device_.host_visible()) storage->data = static_cast<std::byte*>(data);
  std::lock_guard guard(lock_);
  count_allocation(bytes);
  return Ref<Storage>::adopt(storage);
}

// On an asynchronous device, releases the imported memory only after the enqueued work, which may
// still read it.
void Allocator::release_import(Storage* storage) {
  Device& device = *storage->device;
  if (device.synchronous()) {
    end_import(storage);
    return;
  }
  const auto end = [storage] {
    run_on_callback_thread(storage->device->context(), [storage] { end_import(storage); });
  };
  try {
    std::lock_guard turn(device.queue().mutex());
    const uint32_t streams = storage->use.streams | uint32_t{1} << WorkQueue::kDefaultStream;
    device.queue().notify_all(streams, end);
  } catch (const Error&) {
    end_import(storage);  // A lost device reads no more memory.
  }
}

// Releases imported memory that no work uses any more.
void Allocator::end_import(Storage* storage) {
  Device& device = *storage->device;
  Allocator& self = device.allocator();
  device.calls().release(storage->buffer);
  const auto release = storage->import_release;
  void* const payload = storage->import_payload;
  bool last;
  {
    std::lock_guard guard(self.lock_);
    self.statistics_.live_bytes -= storage->size;
    last = --self.statistics_.live_count == 0;
  }
  delete storage;
  if (release) release(payload);
  if (last) device.release();
}

// Returns cached buffers to the plugin. Returns the number of bytes freed.
uint64_t Allocator::trim() {
  std::array<Storage*, kClasses> taken{};
  uint64_t bytes = 0;
  {
    std::lock_guard guard(lock_);
    std::swap(taken, free_);
    for (Storage* head : taken) {
      for (const Storage* s = head; s; s = s->next_free) bytes += s->capacity;
    }
    statistics_.reserved_bytes -= bytes;
  }
  if (bytes > 0) device_.wait();  // Enqueued work may still use the freed buffers.
  for (Storage* head : taken) {
    while (head) {
      Storage* next = head->next_free;
      device_.calls().release(head->buffer);
      delete head;
      head = next;
    }
  }
  return bytes;
}

MemoryStatistics Allocator::statistics() const {
  std::lock_guard guard(lock_);
  return statistics_;
}

void Allocator::reset_peak() {
  std::lock_guard guard(lock_);
  statistics_.peak_bytes = statistics_.live_bytes;
}

void Allocator::fail_out_of_memory(uint64_t bytes, const char* why) {
  struct Holder {
    uint64_t each;
    uint32_t n;
  };
  std::vector<Holder> holders;
  MemoryStatistics now;
  {
    std::lock_guard guard(lock_);
    now = statistics_;
    for (size_t c = 0; c < kClasses; ++c) {
      if (live_of_class_[c]) holders.push_back({class_bytes(c), live_of_class_[c]});
    }
  }
  std::sort(holders.begin(), holders.end(),
            [](const Holder& a, const Holder& b) { return a.each * a.n > b.each * b.n; });
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(holders.size(), 4); ++i) {
    text += format("{}{} x {} bytes", {i ? ", " : "", holders[i].n, holders[i].each});
  }
  Error error(Code::kOutOfMemory,
              format("{}: cannot allocate {} bytes ({}): {} bytes are live, {} reserved, limit {}; "
                     "the largest holders: {}",
                     {device_.name(), bytes, why, now.live_bytes, now.reserved_bytes,
                      limit_ ? format("{}", {limit_}) : std::string("none"),
                      text.empty() ? std::string("none") : text}));
  error.set_device(device_.name());
  throw error;
}

}  // namespace tenon
