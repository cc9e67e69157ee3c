// Lets an allocation of the process fail, on the thread that asks for it: malloc and all that is
// made of it. Where the build cannot take malloc's place (a sanitizer has it, another C library)
// nothing fails, and `can_fail_host_memory` says so.

#pragma once

#include <cstdint>
#include <functional>

namespace tenon_kit::device {

bool can_fail_host_memory();

// From now on the n-th allocation of this thread fails, 1 for the next one, and no other; 0 for
// none. Tells whether the one ordered before was reached.
bool fail_host_memory_at(uint64_t n);

// While one lives, this thread's allocations are those of the host, which do not fail and are not
// counted.
class HostMemoryHolds {
 public:
  HostMemoryHolds();
  ~HostMemoryHolds();
  HostMemoryHolds(const HostMemoryHolds&) = delete;
  HostMemoryHolds& operator=(const HostMemoryHolds&) = delete;
};

// Bytes that malloc has given out and not got back; 0 where nobody knows.
uint64_t host_memory_in_use();

// How many of them `work` leaves behind: the least of four times, since what a thread keeps for a
// while is no leak.
uint64_t host_memory_left_by(const std::function<void()>& work);

}  // namespace tenon_kit::device
