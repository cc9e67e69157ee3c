// Orders the streams of a fake device with option out_of_order. Of the streams that have work and
// wait for no event, the one that was opened last runs first.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>

namespace tenon_fake {

class Turns {
 public:
  uint64_t open();  // Registers a stream and returns its number. Only this function allocates.
  // Removes a stream.
  void close(uint64_t stream);

  // Records whether a stream has work.
  void set_working(uint64_t stream, bool has_work);
  // Records whether a stream waits for an event.
  void set_blocked(uint64_t stream, bool waits_for_event);

  // Blocks until no stream that was opened after `stream` can run.
  void wait_for_turn(uint64_t stream);

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
