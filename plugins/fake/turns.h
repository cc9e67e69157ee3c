// Orders the streams of a device that works out of order: of the streams that can make progress,
// the latest opened runs first.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>

namespace tenon_fake {

class Turns {
 public:
  uint64_t open();  // Registers a stream and returns its number. No other call allocates.
  void close(uint64_t stream);

  void set_working(uint64_t stream, bool has_work);
  void set_blocked(uint64_t stream, bool waits_for_event);

  // Waits until no later stream can make progress.
  void wait_for_later(uint64_t stream);

 private:
  struct State {
    bool has_work = false;
    bool waits_for_event = false;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, State> streams_;
  uint64_t last_ = 0;
};

}  // namespace tenon_fake
