// The device's clock. A stream writes its ticks into queries, in the order of its commands; here
// they become nanoseconds.

#pragma once

#include <mutex>
#include <vector>

#include "plugins/vulkan/driver/driver.h"

namespace tenon_vulkan {

// Ticks as nanoseconds. The device counts with so many bits, and begins anew behind the last.
class Clock {
 public:
  Clock(uint32_t n_bits, float period_ns);

  bool is_there() const { return mask_ != 0; }
  uint64_t ns_of(uint64_t ticks);

 private:
  const uint64_t mask_;
  const uint64_t period_;  // Of a tick, in parts of a nanosecond.
  std::mutex mutex_;
  uint64_t last_ = 0;  // Of the ticks so far, also those that the device has begun anew behind.
};

// One place for the ticks of a mark.
struct Query {
  VkQueryPool pool = VK_NULL_HANDLE;
  uint32_t index = 0;
};

// The marks of a stream that were not read yet. A mark is the number of its query.
class Marks {
 public:
  explicit Marks(const Driver& driver) : driver_(driver) {}
  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;
  // The device has come to the last of them.
  ~Marks();

  tenon_error* take(uint64_t& mark, Query& query);
  // What was written there, of a mark that the device has come to, which is given back.
  tenon_error* read(uint64_t mark, uint64_t& ticks);
  // The device never comes to some of those that were not read; nobody asks to which.
  void lose() noexcept;

 private:
  enum class State : uint8_t { kFree, kTaken, kLost };

  static constexpr uint32_t kPerPool = 256;

  tenon_error* add_pool();

  const Driver& driver_;
  std::mutex mutex_;
  std::vector<VkQueryPool> pools_;
  std::vector<uint64_t> free_;  // Has room for all of them.
  std::vector<State> states_;
};

}  // namespace tenon_vulkan
