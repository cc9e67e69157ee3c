#include "plugins/fake/stream.h"

#include <chrono>
#include <utility>

namespace tenon_fake {

void Event::signal() {
  std::lock_guard guard(mutex_);
  done_ = true;
  changed_.notify_all();
}

void Event::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_; });
}

Stream::Stream(Device& device, tenon_stream_p* inner)
    : device_(device), inner_(inner), number_(device.turns.open()) {
  try {
    if (device.options().asynchronous) thread_ = std::thread([this] { run_thread(); });
  } catch (...) {
    device.turns.close(number_);
    throw;
  }
}

Stream::~Stream() {
  if (thread_.joinable()) {
    {
      std::lock_guard guard(mutex_);
      ending_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  device_.turns.close(number_);
  if (failure_) device_.host().release(failure_);
  tenon_fake::inner().close_stream(inner_);
}

tenon_error* Stream::enqueue(Job job) {
  if (device_.lost) return device_.lost_error();
  if (!thread_.joinable()) return job();
  append(std::move(job));
  return nullptr;
}

void Stream::append(Job job, bool is_slow) {
  std::lock_guard guard(mutex_);
  steps_.push_back({std::move(job), is_slow});
  changed_.notify_all();
  device_.turns.set_working(number_, true);
}

void Stream::run_thread() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || !steps_.empty(); });
    if (steps_.empty()) return;
    const Step step = std::move(steps_.front());
    steps_.pop_front();
    busy_ = true;
    lock.unlock();
    if (const uint64_t us = step.is_slow ? device_.options().delay_us : 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(us));
    }
    if (device_.options().out_of_order) device_.turns.wait_for_turn(number_);
    perform(step.job);
    lock.lock();
    busy_ = false;
    if (steps_.empty()) device_.turns.set_working(number_, false);
    changed_.notify_all();
  }
}

void Stream::perform(const Job& job) {
  tenon_error* error = job();
  if (!error) return;
  std::lock_guard guard(mutex_);
  if (failure_) {
    device_.host().release(error);
  } else {
    failure_ = error;
  }
}

tenon_error* Stream::take_failure() {
  std::lock_guard guard(mutex_);
  if (device_.lost && !failure_) return device_.lost_error();
  return std::exchange(failure_, nullptr);
}

tenon_error* Stream::notify(tenon_done_callback done) {
  Job job = [this, done]() -> tenon_error* {
    tenon_error* failure = take_failure();
    done.function(done.payload, failure);
    if (done.destroy) done.destroy(done.payload);
    if (failure) device_.host().release(failure);
    return nullptr;
  };
  // Calls the callback also if the device is lost, because then no work is in flight.
  if (!thread_.joinable()) return job();
  append(std::move(job));
  return nullptr;
}

tenon_error* Stream::wait() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return steps_.empty() && !busy_; });
  }
  return take_failure();
}

tenon_error* Stream::mark_time(uint64_t* out_mark) {
  *out_mark = 0;
  if (device_.options().clock == 0)
    return device_.error(TENON_UNIMPLEMENTED, "the device has no clock (option clock is 0)");
  if (device_.lost) return device_.lost_error();
  uint64_t mark;
  {
    std::lock_guard guard(mutex_);
    mark = ++last_mark_;
    marks_[mark] = 0;
  }
  Job job = [this, mark]() -> tenon_error* {
    std::lock_guard guard(mutex_);
    if (const auto found = marks_.find(mark); found != marks_.end()) {
      found->second = device_.clock_ns();
    }
    return nullptr;
  };
  *out_mark = mark;
  if (!thread_.joinable()) return job();
  append(std::move(job), false);
  return nullptr;
}

tenon_error* Stream::read_time(uint64_t mark, uint64_t* out_ns) {
  *out_ns = 0;
  std::lock_guard guard(mutex_);
  const auto found = marks_.find(mark);
  if (found == marks_.end())
    return device_.error(TENON_INVALID_ARGUMENT, "no time mark has this number");
  const uint64_t ns = found->second;
  marks_.erase(found);
  if (ns == 0)
    return device_.error(TENON_FAILED_PRECONDITION, "the stream has not reached this time mark");
  *out_ns = ns;
  return nullptr;
}

}  // namespace tenon_fake
