#include "plugins/vulkan/driver/clock.h"

#include <algorithm>
#include <utility>

namespace tenon_vulkan {
namespace {

// Number of fractional bits of the fixed-point period.
constexpr uint32_t kFraction = 20;
constexpr uint64_t kBelow = (uint64_t{1} << kFraction) - 1;

}  // namespace

Clock::Clock(uint32_t n_bits, float period_ns)
    : mask_(n_bits == 0    ? 0
            : n_bits >= 64 ? ~uint64_t{0}
                           : (uint64_t{1} << n_bits) - 1),
      period_(static_cast<uint64_t>(static_cast<double>(period_ns) * (kBelow + 1))) {}

// Converts a timestamp to nanoseconds and extends it beyond the width of the device's counter.
// Marks are read almost in the order in which the device reached them. So a timestamp that is
// slightly less than the previous one is earlier; any other smaller timestamp is after a
// wraparound.
uint64_t Clock::ns_of(uint64_t ticks) {
  std::lock_guard guard(mutex_);
  const uint64_t ahead = (ticks - last_) & mask_;
  const uint64_t behind = (last_ - ticks) & mask_;
  const bool is_before = behind < mask_ / 8 && behind <= last_;
  const uint64_t all = is_before ? last_ - behind : last_ + ahead;
  last_ = std::max(last_, all);
  return (all >> kFraction) * period_ + ((all & kBelow) * period_ >> kFraction);
}

Marks::~Marks() {
  for (VkQueryPool pool : pools_) driver_.vk().DestroyQueryPool(driver_.device(), pool, nullptr);
}

tenon_error* Marks::add_pool() {
  pools_.reserve(pools_.size() + 1);
  const uint64_t first = pools_.size() * kPerPool;
  free_.reserve(first + kPerPool);
  states_.resize(first + kPerPool);
  const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                      .pNext = nullptr,
                                      .flags = 0,
                                      .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                      .queryCount = kPerPool,
                                      .pipelineStatistics = 0};
  VkQueryPool pool = VK_NULL_HANDLE;
  const VkResult result = driver_.vk().CreateQueryPool(driver_.device(), &info, nullptr, &pool);
  if (result != VK_SUCCESS) return driver_.error(result, "cannot create a query for a time mark");
  pools_.push_back(pool);
  for (uint64_t i = kPerPool; i > 0; --i) free_.push_back(first + i - 1);
  return nullptr;
}

tenon_error* Marks::allocate(uint64_t& mark, Query& query) {
  std::lock_guard guard(mutex_);
  if (free_.empty()) {
    if (tenon_error* error = add_pool()) return error;
  }
  mark = free_.back();
  free_.pop_back();
  states_[mark] = State::kTaken;
  query = {pools_[mark / kPerPool], static_cast<uint32_t>(mark % kPerPool)};
  return nullptr;
}

tenon_error* Marks::read(uint64_t mark, uint64_t& ticks) {
  std::lock_guard guard(mutex_);
  if (mark >= states_.size() || states_[mark] == State::kFree) {
    return driver_.error(TENON_INVALID_ARGUMENT, "there is no time mark " + std::to_string(mark) +
                                                     "; a mark can be read once");
  }
  const State was = std::exchange(states_[mark], State::kFree);
  free_.push_back(mark);
  if (driver_.is_lost()) return driver_.lost_error();
  if (was == State::kLost) {
    return driver_.error(TENON_INTERNAL,
                         "time mark " + std::to_string(mark) +
                             " has no time, because the driver rejected its submission");
  }
  const VkResult result = driver_.vk().GetQueryPoolResults(
      driver_.device(), pools_[mark / kPerPool], static_cast<uint32_t>(mark % kPerPool), 1,
      sizeof ticks, &ticks, sizeof ticks, VK_QUERY_RESULT_64_BIT);
  if (result == VK_SUCCESS) return nullptr;
  return driver_.error(result,
                       "the device has not reached this mark yet; wait for the stream first");
}

void Marks::declare_lost() noexcept {
  std::lock_guard guard(mutex_);
  std::replace(states_.begin(), states_.end(), State::kTaken, State::kLost);
}

}  // namespace tenon_vulkan
