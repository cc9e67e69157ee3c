// Allocates the runtime's buffers. Each buffer is one allocation of the driver, because the runtime
// caches buffers.

#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "plugins/cuda/driver/driver.h"

namespace tenon_cuda {

class Memory;

struct Buffer {
  Memory& memory;
  CUdeviceptr data;
  uint64_t size;
};

class Memory {
 public:
  Memory(const Driver& driver, CUcontext context, CUdevice device)
      : driver_(driver), context_(context), device_(device) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  tenon_error* allocate(uint64_t size, std::unique_ptr<Buffer>& buffer);
  void release(std::unique_ptr<Buffer> buffer) noexcept;
  CUcontext context() const { return context_; }
  // Returns the driver's number of the device.
  CUdevice device() const { return device_; }
  tenon_memory_statistics statistics() const;

 private:
  // Returns the error of a failed allocation of `size` bytes.
  tenon_error* out_of_memory_error(uint64_t size) const;
  // Removes one allocation of this size from counts_.
  void decrement_count(uint64_t size) noexcept;

  const Driver& driver_;
  const CUcontext context_;
  const CUdevice device_;
  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> counts_;  // Number of allocations, by size.
  uint64_t allocated_ = 0, peak_ = 0, allocations_ = 0;
};

// Returns the object of a handle of the plugin ABI.
inline Buffer& from_c(tenon_buffer_p* buffer) { return *reinterpret_cast<Buffer*>(buffer); }

}  // namespace tenon_cuda
