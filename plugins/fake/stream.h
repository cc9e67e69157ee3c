// A stream: runs jobs in order, immediately or on its own thread.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "plugins/fake/device.h"

namespace tenon_fake {

// An event: one stream records it, and other streams wait for it.
class Event {
 public:
  // Marks the event as reached and wakes all threads in wait().
  void signal();
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
};

class Stream {
 public:
  // A unit of work; may run on any thread. An error that it returns becomes the stream's failure.
  using Job = std::function<tenon_error*()>;

  Stream(Device& device, tenon_stream_p* inner);
  ~Stream();

  Device& device() const { return device_; }
  // Returns the stream of plugin `ref` that executes the work.
  tenon_stream_p* inner() const { return inner_; }
  uint64_t number() const { return number_; }  // Identifies the stream in Turns.

  // On a synchronous device, runs the job and returns its error. Otherwise appends the job to the
  // stream.
  tenon_error* enqueue(Job job);
  tenon_error* notify(tenon_done_callback done);
  tenon_error* wait();
  tenon_error* mark_time(uint64_t* out_mark);
  tenon_error* read_time(uint64_t mark, uint64_t* out_ns);

 private:
  struct Step {
    Job job;
    bool is_slow;  // Whether the option delay_us applies to this job.
  };

  // Runs on the stream's thread: performs jobs until the stream is closed.
  void run_thread();
  // Adds a job that the thread of the stream performs. `is_slow`: whether option delay_us applies.
  void append(Job job, bool is_slow = true);
  // Runs a job and stores the error that it returns.
  void perform(const Job& job);
  // Returns the first error that was not reported yet, and marks it as reported.
  tenon_error* take_failure();

  Device& device_;
  tenon_stream_p* const inner_;
  const uint64_t number_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Step> steps_;
  bool busy_ = false;
  bool ending_ = false;
  tenon_error* failure_ = nullptr;  // The first error that was not reported yet.
  uint64_t last_mark_ = 0;
  std::map<uint64_t, uint64_t> marks_;  // Time in nanoseconds of each mark; 0 until it is reached.
  std::thread thread_;
};

inline Stream& from_c(tenon_stream_p* stream) { return *reinterpret_cast<Stream*>(stream); }
using EventPtr = std::shared_ptr<Event>;
inline EventPtr& from_c(tenon_event_p* event) { return *reinterpret_cast<EventPtr*>(event); }

}  // namespace tenon_fake
