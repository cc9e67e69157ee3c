// The device's clock. A stream writes timestamps into queries, in the order of its commands; this
// class converts them to nanoseconds.

#pragma once

#include <mutex>
#include <vector>

#include "plugins/vulkan/driver/driver.h"

namespace tenon_vulkan {

// Converts ticks to nanoseconds. The device's counter has `n_bits` bits and wraps around.
class Clock {
 public:
  Clock(uint32_t n_bits, float period_ns);

  // Whether the device has a counter for timestamps.
  bool is_supported() const { return mask_ != 0; }
  // Returns the time of a timestamp in nanoseconds.
  uint64_t ns_of(uint64_t ticks);

 private:
  const uint64_t mask_;
  const uint64_t period_;  // Length of a tick in fixed-point nanoseconds (20 fractional bits).
  std::mutex mutex_;
  uint64_t last_ = 0;  // The largest timestamp so far, extended by the wraparounds.
};

// A query that holds the timestamp of one mark.
struct Query {
  VkQueryPool pool = VK_NULL_HANDLE;
  uint32_t index = 0;
};

// The marks of a stream that are not yet read. A mark is the number of its query.
class Marks {
 public:
  explicit Marks(const Driver& driver) : driver_(driver) {}
  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;
  // Before destruction, the device must have reached all marks.
  ~Marks();

  // Allocates a mark and returns its number and its query.
  tenon_error* allocate(uint64_t& mark, Query& query);
  // Reads the timestamp of a mark that the device has reached, and frees the mark.
  tenon_error* read(uint64_t mark, uint64_t& ticks);
  // Declares all unread marks lost. Called after a failed submission, because the device never
  // reaches some of the marks, and it is unknown which ones.
  void declare_lost() noexcept;

 private:
  enum class State : uint8_t { kFree, kTaken, kLost };

  static constexpr uint32_t kPerPool = 256;

  // Adds a query pool and its free marks.
  tenon_error* add_pool();

  const Driver& driver_;
  std::mutex mutex_;
  std::vector<VkQueryPool> pools_;
  std::vector<uint64_t>
      free_;  // Has capacity for all queries, so that freeing a mark does not allocate.
  std::vector<State> states_;
};

}  // namespace tenon_vulkan
