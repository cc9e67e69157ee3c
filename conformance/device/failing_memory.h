// Makes an allocation of the calling thread, or of all threads, fail: malloc and everything based
// on it. If the build cannot replace malloc (with sanitizers, or another C library), nothing fails
// and `can_fail_host_memory` returns false.

#pragma once

#include <cstdint>
#include <functional>

namespace tenon_kit::device {

bool can_fail_host_memory();

// Makes the n-th allocation of this thread from now fail, counted from 1; 0 for none. Returns
// whether the previously requested failure was reached.
bool fail_host_memory_at(uint64_t n);

// Like fail_host_memory_at(), but counts the allocations of all threads. Returns how many
// allocations were left before the previously requested failure.
uint64_t fail_host_memory_of_all_at(uint64_t n);

// While an object of this class exists, allocations of the thread belong to the host: they do not
// fail and are not counted.
class HostMemoryHolds {
 public:
  HostMemoryHolds();
  ~HostMemoryHolds();
  HostMemoryHolds(const HostMemoryHolds&) = delete;
  HostMemoryHolds& operator=(const HostMemoryHolds&) = delete;
};

// Bytes allocated from malloc and not freed; 0 if unknown.
uint64_t host_memory_in_use();

// Number of bytes that `work` leaks: the minimum of four runs, because temporary caches of a thread
// are not leaks.
uint64_t host_memory_left_by(const std::function<void()>& work);

}  // namespace tenon_kit::device
