#include "plugins/cuda/testing/emulated_stream.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace tenon_emulated {
namespace {

std::atomic<bool> has_failed{false};

// Returns the delay of each operation in microseconds.
long delay_us() {
  const char* const text = std::getenv("TENON_EMULATED_CUDA_LATE");
  return text != nullptr ? std::atol(text) : 0;
}

double now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

}  // namespace

Stream::Stream() {
  if (delay_us() > 0) thread_ = std::thread([this] { run_thread(); });
}

Stream::~Stream() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard guard(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Stream::enqueue(Job job) {
  if (!thread_.joinable()) return job();
  std::lock_guard guard(mutex_);
  jobs_.push_back(std::move(job));
  changed_.notify_all();
}

void Stream::synchronize() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty() && !is_busy_; });
}

void Stream::run_thread() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    is_busy_ = true;
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us()));
    job();
    lock.lock();
    is_busy_ = false;
    changed_.notify_all();
  }
}

void Event::record(Stream& stream) {
  Stream::Job job = [state = state] {
    std::lock_guard guard(state->mutex);
    state->ms = now_ms();
    ++state->n_passed;
    state->changed.notify_all();
  };
  {
    std::lock_guard guard(state->mutex);
    ++state->n_recorded;
  }
  stream.enqueue(std::move(job));
}

void Event::make_stream_wait(Stream& stream) {
  uint64_t number;
  {
    std::lock_guard guard(state->mutex);
    number = state->n_recorded;
  }
  stream.enqueue([state = state, number] {
    std::unique_lock lock(state->mutex);
    state->changed.wait(lock, [&] { return state->n_passed >= number; });
  });
}

void Event::synchronize() {
  std::unique_lock lock(state->mutex);
  const uint64_t number = state->n_recorded;
  state->changed.wait(lock, [&] { return state->n_passed >= number; });
}

void fail_context(const std::string& text) {
  if (has_failed.exchange(true)) return;
  std::fprintf(stderr, "emulated CUDA: %s\n", text.c_str());
}
bool context_has_failed() { return has_failed; }
void reset_context() { has_failed = false; }

}  // namespace tenon_emulated
