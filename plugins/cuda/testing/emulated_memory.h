// The memory of the emulated device: host memory between guard margins. What is allocated is
// poisoned, so that reading it before it is written shows: a float is 3.4e38, an index out of
// range.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace tenon_emulated {

class Memory {
 public:
  // TENON_EMULATED_CUDA_MEMORY bytes, or 8 GiB.
  Memory();

  // NULL: there is not so much left.
  void* allocate(size_t size);
  // False: it is no allocation. `fault` says that something wrote beside it.
  bool free(void* data, std::string& fault);
  // Whether all of it is within one allocation.
  bool contains(const void* data, size_t size) const;
  // Something wrote beside an allocation; empty: nothing did.
  std::string check() const;
  size_t total() const { return total_; }
  size_t used() const;

 private:
  std::string check_margins(const std::byte* data, size_t size) const;

  size_t total_;
  mutable std::mutex mutex_;
  size_t used_ = 0;
  std::map<std::byte*, size_t> sizes_;  // By where they begin.
};

Memory& memory();

}  // namespace tenon_emulated
