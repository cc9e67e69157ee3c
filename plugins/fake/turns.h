// Whose turn it is among the streams of a device that works out of order: of those that could go
// on, the one opened last.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>

namespace tenon_fake {

class Turns {
 public:
  uint64_t open();  // A new stream's number. Only this call takes memory.
  void close(uint64_t stream);

  void set_working(uint64_t stream, bool has_work);
  void set_blocked(uint64_t stream, bool waits_for_event);

  // Until no stream opened later could go on.
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
