#include "plugins/fake/turns.h"

#include <algorithm>

namespace tenon_fake {

// Adds a stream and returns its number.
uint64_t Turns::open() {
  std::lock_guard guard(mutex_);
  streams_[last_ + 1] = {};
  return ++last_;
}

void Turns::close(uint64_t stream) {
  std::lock_guard guard(mutex_);
  streams_.erase(stream);
  changed_.notify_all();
}

void Turns::set_working(uint64_t stream, bool has_work) {
  std::lock_guard guard(mutex_);
  streams_.at(stream).has_work = has_work;
  changed_.notify_all();
}

void Turns::set_blocked(uint64_t stream, bool waits_for_event) {
  std::lock_guard guard(mutex_);
  streams_.at(stream).waits_for_event = waits_for_event;
  changed_.notify_all();
}

void Turns::wait_for_turn(uint64_t stream) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return std::none_of(streams_.upper_bound(stream), streams_.end(), [](const auto& later) {
      return later.second.has_work && !later.second.waits_for_event;
    });
  });
}

}  // namespace tenon_fake
