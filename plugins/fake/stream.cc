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
    if (device.options().asynchronous) thread_ = std::thread([this] { run(); });
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

void Stream::append(Job job) {
  std::lock_guard guard(mutex_);
  jobs_.push_back(std::move(job));
  changed_.notify_all();
  device_.turns.set_working(number_, true);
}

void Stream::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    busy_ = true;
    lock.unlock();
    if (const uint64_t us = device_.options().delay_us) {
      std::this_thread::sleep_for(std::chrono::microseconds(us));
    }
    if (device_.options().out_of_order) device_.turns.wait_for_later(number_);
    perform(job);
    lock.lock();
    busy_ = false;
    if (jobs_.empty()) device_.turns.set_working(number_, false);
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
  // What is lost answers, too: nothing of it is under way any more.
  if (!thread_.joinable()) return job();
  append(std::move(job));
  return nullptr;
}

tenon_error* Stream::wait() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return jobs_.empty() && !busy_; });
  }
  return take_failure();
}

}  // namespace tenon_fake
