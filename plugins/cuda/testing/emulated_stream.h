// Streams and events of the emulated driver. Operations run immediately, on the caller's thread.
// With TENON_EMULATED_CUDA_LATE=MICROSECONDS, a thread of the stream runs each operation after this
// delay.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace tenon_emulated {

class Stream {
 public:
  using Job = std::function<void()>;

  Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();  // Waits for all operations of the stream.

  // Runs the job, or adds it to the jobs of the thread of the stream.
  void enqueue(Job job);
  void synchronize();

 private:
  // Runs on the thread of the stream: executes jobs until the stream is destroyed.
  void run_thread();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool is_busy_ = false, is_ending_ = false;
  std::thread thread_;
};

struct Event {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t n_recorded = 0, n_passed = 0;
    double ms = 0;
  };
  std::shared_ptr<State> state = std::make_shared<State>();

  void record(Stream& stream);
  // Makes the stream wait for the work recorded so far.
  void make_stream_wait(Stream& stream);
  void synchronize();
};

// Records the first error of an operation. All later calls fail until the context is released.
void fail_context(const std::string& text);
// Whether fail_context() was called since the last reset.
bool context_has_failed();
// Removes the error of the context.
void reset_context();

}  // namespace tenon_emulated
