#include "plugins/cuda/driver/stream.h"

#include <cstring>
#include <utility>

#include "plugins/cuda/driver/nvtx.h"
#include "plugins/cuda/driver/recording.h"

namespace tenon_cuda {

Stream::Stream(Device& device)
    : device_(device), driver_(device.driver()), staging_(device.driver(), device.context()) {
  next_.number = 1;
}

tenon_error* Stream::open() {
  if (tenon_error* error = driver_.check_lost()) return error;
  const Entered entered(driver_, device_.context());
  if (tenon_error* error = entered.error()) return error;
  const CUresult result = driver_.cu.StreamCreate(&stream_, kStreamNonBlocking);
  if (tenon_error* error = driver_.check(result, "creating a stream")) return error;
  if (tenon_error* error = staging_.allocate()) return error;
  thread_ = std::thread([this] { run_thread(); });
  return nullptr;
}

Stream::~Stream() {
  {
    std::lock_guard guard(mutex_);
    is_closing_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  const Entered entered(driver_, device_.context());
  if (stream_ != nullptr) {
    driver_.cu.StreamSynchronize(stream_);
    driver_.cu.StreamDestroy(stream_);
  }
  for (const auto& [mark, event] : times_) {
    if (event != nullptr) driver_.cu.EventDestroy(event);
  }
  if (failure_ != nullptr) device_.host().release(failure_);
}

// ---- launches

tenon_error* Stream::launch(const Kernel& kernel, const tenon_launch& launch) {
  if (tenon_error* error = driver_.check_lost()) return error;
  const Entered entered(driver_, device_.context());
  if (tenon_error* error = entered.error()) return error;
  const Range range("launch", kernel.name());
  launching_ = &kernel.name();
  n_dispatched_ = 0;
  tenon_error* const error = kernel.enqueue(*this, launch);
  if (error == nullptr || n_dispatched_ == 0 || launch.work == nullptr) return error;
  // Some dispatches of the launch are already enqueued. Therefore the failure is reported to the
  // host and not returned.
  device_.host().launch_failed(launch.work, launch.ticket, error);
  return nullptr;
}

tenon_error* Stream::replay(Recording& recording, const tenon_replay& replay) {
  if (tenon_error* error = driver_.check_lost()) return error;
  const Entered entered(driver_, device_.context());
  if (tenon_error* error = entered.error()) return error;
  const Range range("replay", recording.name());
  bool is_partly_enqueued = false;
  tenon_error* const error = recording.enqueue(stream_, replay, is_partly_enqueued);
  if (error == nullptr || !is_partly_enqueued || replay.work == nullptr) return error;
  device_.host().launch_failed(replay.work, replay.ticket, error);
  return nullptr;
}

tenon_error* Stream::dispatch(const Dispatch& dispatch) {
  if (dispatch.n_blocks == 0) return nullptr;
  size_t size = dispatch.parameters.size_bytes();
  void* parameters[] = {kParameterPointer, const_cast<uint64_t*>(dispatch.parameters.data()),
                        kParameterSize, &size, kParameterEnd};
  const CUresult result =
      driver_.cu.LaunchKernel(dispatch.function, dispatch.n_blocks, 1, 1, dispatch.block_size, 1, 1,
                              0, stream_, nullptr, parameters);
  if (tenon_error* error = driver_.check(result, "launching " + *launching_)) return error;
  ++n_dispatched_;
  return nullptr;
}

tenon_error* Stream::multiply(const LibraryProduct& product, const LibraryCall& call) {
  if (tenon_error* error = product.run(stream_, call)) return error;
  ++n_dispatched_;
  return nullptr;
}

// ---- order

tenon_error* Stream::record_event(EventRef& event) {
  if (tenon_error* error = driver_.check_lost()) return error;
  const Entered entered(driver_, device_.context());
  if (tenon_error* error = entered.error()) return error;
  if (tenon_error* error = device_.make_event(event)) return error;
  return driver_.check(driver_.cu.EventRecord(event.get(), stream_), "recording an event");
}

tenon_error* Stream::wait_event(const EventRef& event) {
  if (tenon_error* error = driver_.check_lost()) return error;
  const Entered entered(driver_, device_.context());
  if (tenon_error* error = entered.error()) return error;
  return driver_.check(driver_.cu.StreamWaitEvent(stream_, event.get(), 0),
                       "making a stream wait for an event");
}

tenon_error* Stream::add_mark(std::optional<tenon_done_callback> done, uint64_t& number) {
  EventRef event;
  tenon_error* const error = record_event(event);
  std::lock_guard guard(mutex_);
  Mark mark = std::move(next_);
  next_ = {.number = mark.number + 1};
  number = mark.number;
  if (error == nullptr) mark.event = std::move(event);
  mark.staging_end = staging_.position();
  mark.done = done;
  marks_.push_back(std::move(mark));
  if (done) changed_.notify_all();
  return error;
}

// Never returns an error, because callbacks run even if the device is lost; they receive the error.
tenon_error* Stream::notify(const tenon_done_callback& done) {
  uint64_t number;
  if (tenon_error* error = add_mark(done, number)) add_failure(error);
  return nullptr;
}

tenon_error* Stream::wait() {
  uint64_t number;
  if (tenon_error* error = add_mark({}, number)) add_failure(error);
  if (tenon_error* error = wait_for_mark(number)) add_failure(error);
  return take_failure();
}

tenon_error* Stream::wait_for_mark(uint64_t number) {
  EventRef event;
  {
    std::lock_guard guard(mutex_);
    for (const Mark& mark : marks_) {
      if (mark.number == number) event = mark.event;
    }
  }
  tenon_error* error = nullptr;
  if (event != nullptr) {
    const Entered entered(driver_, device_.context());
    error = driver_.check(driver_.cu.EventSynchronize(event.get()), "waiting for a stream");
  }
  process_marks_up_to(number);
  return error;
}

// Performs the host's work of all marks up to this number, which the device has reached.
void Stream::process_marks_up_to(uint64_t number) {
  std::lock_guard passing(passing_);
  while (true) {
    Mark mark;
    {
      std::lock_guard guard(mutex_);
      if (marks_.empty() || marks_.front().number > number) return;
      mark = std::move(marks_.front());
      marks_.pop_front();
    }
    process_mark(mark);
  }
}

// Performs the host's work of one mark: copies, then the callback.
void Stream::process_mark(Mark& mark) {
  for (const HostCopy& copy : mark.copies) std::memmove(copy.to, copy.from, copy.size);
  {
    std::lock_guard guard(mutex_);
    staging_.release(mark.staging_end);
  }
  mark.event.reset();
  if (!mark.done) return;
  tenon_error* const failure = take_failure();
  mark.done->function(mark.done->payload, failure);
  if (mark.done->destroy != nullptr) mark.done->destroy(mark.done->payload);
  if (failure != nullptr) device_.host().release(failure);
}

void Stream::run_thread() {
  std::unique_lock lock(mutex_);
  while (true) {
    const auto has_callback = [&] {
      for (const Mark& mark : marks_) {
        if (mark.done) return true;
      }
      return false;
    };
    changed_.wait(lock, [&] { return is_closing_ || has_callback(); });
    if (!has_callback()) return;
    const uint64_t number = marks_.front().number;
    lock.unlock();
    if (tenon_error* error = wait_for_mark(number)) add_failure(error);
    lock.lock();
  }
}

// Stores a failure for a later report, or releases it if an earlier failure is not yet reported.
void Stream::add_failure(tenon_error* error) {
  std::lock_guard guard(mutex_);
  if (failure_ == nullptr) {
    failure_ = error;
  } else {
    device_.host().release(error);
  }
}

// Returns the first failure that is not yet reported, and marks it as reported.
tenon_error* Stream::take_failure() {
  {
    std::lock_guard guard(mutex_);
    if (failure_ != nullptr) return std::exchange(failure_, nullptr);
  }
  return driver_.check_lost();
}

// ---- time

tenon_error* Stream::mark_time(uint64_t& mark) {
  if (tenon_error* error = driver_.check_lost()) return error;
  const Entered entered(driver_, device_.context());
  if (tenon_error* error = entered.error()) return error;
  // Inserts into the map before the event is created, so that an exception cannot leak the event.
  uint64_t number = 0;
  CUevent* event = nullptr;
  {
    std::lock_guard guard(times_mutex_);
    number = ++last_time_;
    event = &times_[number];
  }
  tenon_error* error = driver_.check(driver_.cu.EventCreate(event, 0), "creating an event");
  if (error == nullptr) {
    error = driver_.check(driver_.cu.EventRecord(*event, stream_), "marking a time");
  }
  if (error == nullptr) {
    mark = number;
    return nullptr;
  }
  std::lock_guard guard(times_mutex_);
  if (*event != nullptr) driver_.cu.EventDestroy(*event);
  times_.erase(number);
  return error;
}

tenon_error* Stream::read_time(uint64_t mark, uint64_t& ns) {
  CUevent event = nullptr;
  {
    std::lock_guard guard(times_mutex_);
    const auto found = times_.find(mark);
    if (found == times_.end()) {
      return driver_.error(
          TENON_INVALID_ARGUMENT,
          "cuda: there is no time mark " + std::to_string(mark) + "; a mark can be read once");
    }
    event = found->second;
    times_.erase(found);
  }
  const Entered entered(driver_, device_.context());
  tenon_error* error = entered.error();
  if (error == nullptr) error = device_.read_clock(event, ns);
  driver_.cu.EventDestroy(event);
  return error;
}

// ---- queries of kernels

tenon_error* Kernel::launch(tenon_stream_p* stream, const tenon_launch& launch) const {
  return from_c(stream).launch(*this, launch);
}

}  // namespace tenon_cuda
