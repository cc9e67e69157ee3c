// The memory of the emulated devices: host memory between guard margins. New allocations are filled
// with a pattern, so that tests detect reads of uninitialised memory: as a float it is 3.4e38, and
// as an index it is out of range.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace tenon_emulated {

class Memory {
 public:
  // The capacity is TENON_EMULATED_CUDA_MEMORY bytes, or 8 GiB.
  Memory();

  // Allocates memory of the device to which `context` belongs. Returns NULL if less than `size`
  // bytes of the capacity are left.
  void* allocate(size_t size, const void* context);
  // Frees an allocation. Returns false if `data` is not one. If a write outside the allocation is
  // found, describes it in `fault`.
  bool free(void* data, std::string& fault);
  // Whether all `size` bytes are within one allocation.
  bool contains(const void* data, size_t size) const;
  // Returns the context of the allocation that contains `data`; NULL if there is none.
  const void* context_of(const void* data) const;
  // Returns a description of a write outside an allocation; empty if there was none.
  std::string find_write_outside() const;
  // Returns the capacity in bytes.
  size_t total() const { return total_; }
  // Returns the number of bytes that are allocated.
  size_t used() const;

 private:
  // Returns a description of a write to the margins of an allocation; empty if there was none.
  std::string check_margins(const std::byte* data, size_t size) const;

  size_t total_;
  mutable std::mutex mutex_;
  size_t used_ = 0;
  std::map<std::byte*, size_t> sizes_;  // Keyed by address.
  std::map<const std::byte*, const void*> contexts_;
};

// Returns the memory of all emulated devices.
Memory& memory();

}  // namespace tenon_emulated
