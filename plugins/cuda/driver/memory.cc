#include "plugins/cuda/driver/memory.h"

#include <algorithm>
#include <vector>

namespace tenon_cuda {

tenon_error* Memory::allocate(uint64_t size, std::unique_ptr<Buffer>& buffer) {
  if (tenon_error* error = driver_.check_lost()) return error;
  const Entered entered(driver_, context_);
  if (tenon_error* error = entered.error()) return error;
  auto made = std::make_unique<Buffer>(Buffer{*this, 0, size});
  {
    // Updates the statistics before the device allocation, because this may allocate host memory
    // and throw. Nothing throws afterwards.
    std::lock_guard guard(mutex_);
    ++counts_[size];
  }
  const CUresult result = driver_.cu.MemAlloc(&made->data, size);
  if (result != kCudaSuccess) decrement_count(size);
  if (result == kCudaOutOfMemory) return out_of_memory_error(size);
  if (tenon_error* error = driver_.check(result, "an allocation")) return error;
  std::lock_guard guard(mutex_);
  allocated_ += size;
  peak_ = std::max(peak_, allocated_);
  ++allocations_;
  buffer = std::move(made);
  return nullptr;
}

// The error lists the allocation sizes that occupy most of the memory, which helps users find the
// owners.
tenon_error* Memory::out_of_memory_error(uint64_t size) const {
  size_t free = 0, total = 0;
  std::string message = "cuda: cannot allocate " + std::to_string(size) + " bytes";
  if (driver_.cu.MemGetInfo(&free, &total) == kCudaSuccess) {
    message += ": " + std::to_string(free) + " of " + std::to_string(total) + " bytes are free";
  }
  std::lock_guard guard(mutex_);
  message += "; this device has allocated " + std::to_string(allocated_) + " bytes";
  std::vector<std::pair<uint64_t, uint64_t>>
      holders;  // For each allocation size: the total bytes of its allocations, and the size.
  for (const auto& [each, n] : counts_) holders.push_back({each * n, each});
  std::sort(holders.rbegin(), holders.rend());
  const size_t n_named = std::min<size_t>(holders.size(), 3);
  for (size_t i = 0; i < n_named; ++i) {
    const auto& [bytes, each] = holders[i];
    message += (i == 0 ? ", most of it in " : ", ") + std::to_string(bytes / each) +
               " buffers of " + std::to_string(each) + " bytes";
  }
  return driver_.error(TENON_OUT_OF_MEMORY, message);
}

void Memory::release(std::unique_ptr<Buffer> buffer) noexcept {
  const Entered entered(driver_, context_);
  driver_.cu.MemFree(buffer->data);
  decrement_count(buffer->size);
  std::lock_guard guard(mutex_);
  allocated_ -= buffer->size;
}

// Removes one allocation of this size from counts_.
void Memory::decrement_count(uint64_t size) noexcept {
  std::lock_guard guard(mutex_);
  if (const auto found = counts_.find(size); --found->second == 0) counts_.erase(found);
}

tenon_memory_statistics Memory::statistics() const {
  std::lock_guard guard(mutex_);
  return {.struct_size = 0,
          .reserved = 0,
          .allocated_bytes = allocated_,
          .peak_bytes = peak_,
          .allocations = allocations_};
}

}  // namespace tenon_cuda
