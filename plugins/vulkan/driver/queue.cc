#include "plugins/vulkan/driver/queue.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "plugins/vulkan/driver/at_exit.h"
#include "plugins/vulkan/driver/stream.h"

namespace tenon_vulkan {
namespace {

// Time after which an open batch is submitted even if the device is still busy, so that the device
// has more work when it finishes. The queue's thread also wakes up at this interval while work is
// in flight.
constexpr std::chrono::milliseconds kGather{1};
constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

// How long a thread polls the driver before it calls a blocking wait, which returns tens of
// microseconds late. kPolledWaiting is for threads that wait for a batch, kPolledFollowing for the
// queue's thread.
constexpr std::chrono::microseconds kPolledWaiting{2000}, kPolledFollowing{200};

}  // namespace

tenon_error* Queue::open() {
  if (driver_.has_timeline()) {
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .pNext = nullptr,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                            .initialValue = 0};
    const VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type, .flags = 0};
    const VkResult result =
        driver_.vk().CreateSemaphore(driver_.device(), &info, nullptr, &timeline_);
    if (result != VK_SUCCESS) return driver_.error(result, "cannot make a semaphore");
  }
  thread_ = std::thread([this] { run(); });
  return nullptr;
}

Queue::~Queue() {
  if (thread_.joinable()) {
    {
      std::lock_guard guard(mutex_);
      is_closing_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  if (timeline_ != VK_NULL_HANDLE) {
    driver_.vk().DestroySemaphore(driver_.device(), timeline_, nullptr);
  }
}

// ---- streams

void Queue::add(Stream& stream) {
  std::lock_guard guard(streams_mutex_);
  streams_.push_back(&stream);
}

void Queue::remove(Stream& stream, uint64_t last_number) noexcept {
  {
    std::lock_guard guard(streams_mutex_);
    std::erase(streams_, &stream);
  }
  wait(last_number);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !is_delivering_notice(stream); });
}

bool Queue::is_delivering_notice(const Stream& stream) const {
  for (const Notice* notice = notices_.get(); notice; notice = notice->next.get()) {
    if (notice->stream == &stream) return true;
  }
  return delivering_ == &stream;
}

void Queue::submit_old_batches() {
  const auto opened_before = std::chrono::steady_clock::now() - kGather;
  std::lock_guard guard(streams_mutex_);
  for (Stream* stream : streams_) stream->submit_if_old(opened_before);
}

void Queue::encode_ready_dispatches() {
  std::lock_guard guard(streams_mutex_);
  for (Stream* stream : streams_) stream->encode_ready_dispatches();
}

// ---- batches

uint64_t Queue::submit(Batch& batch) noexcept {
  std::lock_guard guard(mutex_);
  batch.number = ++last_number_;
  batch.next = nullptr;
  if (batch.result == VK_SUCCESS) batch.result = try_submit(batch);
  if (batch.result == VK_ERROR_DEVICE_LOST) driver_.mark_lost();
  (first_ == nullptr ? first_ : last_->next) = &batch;
  last_ = &batch;
  changed_.notify_all();
  return batch.number;
}

VkResult Queue::try_submit(Batch& batch) {
  if (batch.fence != VK_NULL_HANDLE) {
    const VkResult result = driver_.vk().ResetFences(driver_.device(), 1, &batch.fence);
    if (result != VK_SUCCESS) return result;
  }
  const bool has_timeline = timeline_ != VK_NULL_HANDLE;
  const VkTimelineSemaphoreSubmitInfo values = {
      .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
      .pNext = nullptr,
      .waitSemaphoreValueCount = 0,
      .pWaitSemaphoreValues = nullptr,
      .signalSemaphoreValueCount = 1,
      .pSignalSemaphoreValues = &batch.number};
  const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                             .pNext = has_timeline ? &values : nullptr,
                             .waitSemaphoreCount = 0,
                             .pWaitSemaphores = nullptr,
                             .pWaitDstStageMask = nullptr,
                             .commandBufferCount = 1,
                             .pCommandBuffers = &batch.commands,
                             .signalSemaphoreCount = has_timeline ? 1u : 0u,
                             .pSignalSemaphores = has_timeline ? &timeline_ : nullptr};
  return driver_.vk().QueueSubmit(driver_.queue(), 1, &info, batch.fence);
}

// Waits at most `timeout_ns` and returns whether the device has completed the batch. Also returns
// true if the device is lost.
bool Queue::has_completed(uint64_t number, VkFence fence, uint64_t timeout_ns) const {
  if (driver_.is_lost()) return true;
  const DeviceFunctions& vk = driver_.vk();
  VkResult result;
  if (timeline_ != VK_NULL_HANDLE) {
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .pNext = nullptr,
                                      .flags = 0,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &timeline_,
                                      .pValues = &number};
    result = vk.WaitSemaphores(driver_.device(), &info, timeout_ns);
  } else {
    result = vk.WaitForFences(driver_.device(), 1, &fence, VK_TRUE, timeout_ns);
  }
  if (result == VK_TIMEOUT) return false;
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY) {
    // The wait ran out of memory, which the batch itself does not need in order to complete.
    // Returns false, so that the caller waits again.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return false;
  }
  // After any other error, it is unknown when the batch completes, so the device counts as lost.
  if (result != VK_SUCCESS) driver_.mark_lost();
  return true;
}

void Queue::retire_first_batch() {
  Batch* batch;
  {
    std::lock_guard guard(mutex_);
    batch = first_;
  }
  finish_batch(*batch);
  const uint64_t number = batch->number;
  {
    std::lock_guard guard(mutex_);
    first_ = batch->next;
    if (first_ == nullptr) last_ = nullptr;
  }
  if (number == 1) AtExit::register_handler(AtExit::Moment::kWorked);
  batch->stream->recycle_batch(*batch);  // The stream may immediately reuse and submit the batch.
  std::lock_guard guard(mutex_);
  ended_.store(number, std::memory_order_release);
  changed_.notify_all();
}

// Performs the host copies of a completed batch and reports its failures. Meanwhile, the stream may
// enqueue further work.
void Queue::finish_batch(Batch& batch) {
  const bool is_lost = driver_.is_lost();  // The loss is not reported here, but by later calls.
  if (!is_lost && batch.result == VK_SUCCESS) {
    for (const HostCopy& copy : batch.host_copies) std::memmove(copy.to, copy.from, copy.size);
  }
  n_host_copies_ -= batch.host_copies.size();
  if (is_lost || batch.result == VK_SUCCESS) return;
  for (const LaunchId& launch : batch.launches) {
    driver_.host().launch_failed(
        launch.work, launch.ticket,
        driver_.error(batch.result, "the driver rejected the submission of the launch"));
  }
  if (batch.has_transfers) {
    batch.stream->add_failure(
        batch.number, driver_.error(batch.result, "the driver rejected the submission of a copy"));
  }
}

uint64_t Queue::find_host_write(const void* begin, uint64_t size) const {
  std::lock_guard guard(mutex_);
  uint64_t found = 0;
  for (const Batch* batch = first_; batch != nullptr; batch = batch->next) {
    const bool writes = std::any_of(batch->host_copies.begin(), batch->host_copies.end(),
                                    [&](const HostCopy& copy) { return copy.writes(begin, size); });
    if (writes) found = batch->number;
  }
  return found;
}

bool Queue::try_retire_first_batch(Lock& lock, std::chrono::nanoseconds timeout, bool has_waiter) {
  is_polled_ = true;
  const uint64_t number = first_->number;
  const VkFence fence = first_->fence;
  const bool was_submitted = first_->result == VK_SUCCESS;
  lock.unlock();
  bool has_finished = !was_submitted || poll(number, fence, has_waiter);
  const bool makes_room = !has_waiter && n_waiting_ > 0;
  if (!has_finished && !makes_room) {
    has_finished = has_completed(number, fence, static_cast<uint64_t>(timeout.count()));
  }
  if (has_finished) retire_first_batch();
  lock.lock();
  is_polled_ = false;
  changed_.notify_all();
  return has_finished;
}

// Polls the driver until the batch has completed or the polling time is over. Returns whether the
// batch has completed. Software drivers are not polled, because polling would occupy a processor
// that they need. The queue's thread stops polling as soon as another thread waits.
bool Queue::poll(uint64_t number, VkFence fence, bool has_waiter) const {
  if (driver_.physical().capabilities.is_software) return false;
  const auto end =
      std::chrono::steady_clock::now() + (has_waiter ? kPolledWaiting : kPolledFollowing);
  while (std::chrono::steady_clock::now() < end) {
    if (has_completed(number, fence, 0)) return true;
    if (!has_waiter && n_waiting_ > 0) return false;
    std::this_thread::yield();
  }
  return false;
}

void Queue::wait(uint64_t number) {
  if (has_ended(number)) return;
  ++n_waiting_;
  Lock lock(mutex_);
  while (!has_ended(number)) {
    if (is_polled_ || first_ == nullptr) {
      changed_.wait(lock);
    } else {
      try_retire_first_batch(lock, kForever, true);
    }
  }
  --n_waiting_;
}

bool Queue::wait_for_all(std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [&] { return has_ended(last_number_); });
}

// ---- notices

void Queue::notify(Stream& stream, uint64_t number, const tenon_done_callback& done) {
  std::unique_ptr<Notice> notice(new Notice{number, &stream, done, nullptr});
  std::lock_guard guard(mutex_);
  std::unique_ptr<Notice>* place = &notices_;
  while (*place != nullptr && (*place)->number <= number) place = &(*place)->next;
  notice->next = std::move(*place);
  *place = std::move(notice);
  changed_.notify_all();
}

// Delivers the first notice whose batch has completed. Returns false if there is none.
bool Queue::deliver_notice(Lock& lock) {
  if (notices_ == nullptr || !has_ended(notices_->number)) return false;
  const std::unique_ptr<Notice> notice = std::move(notices_);
  notices_ = std::move(notice->next);
  delivering_ = notice->stream;
  lock.unlock();
  const tenon_done_callback& done = notice->done;
  tenon_error* const failure = notice->stream->take_failure(notice->number);
  done.function(done.payload, failure);
  if (done.destroy) done.destroy(done.payload);
  driver_.host().release(failure);
  lock.lock();
  delivering_ = nullptr;
  changed_.notify_all();
  return true;
}

// ---- the thread

void Queue::run() {
  Lock lock(mutex_);
  while (true) {
    if (deliver_notice(lock)) continue;
    if (first_ != nullptr) {
      retire_or_submit_batches(lock);
    } else if (is_closing_) {
      return;
    } else {
      changed_.wait(lock);
    }
  }
}

// Retires the first batch, or submits gathered batches if the device is still busy. If another
// thread waits for a batch, that thread polls the driver instead.
void Queue::retire_or_submit_batches(Lock& lock) {
  if (is_polled_ || n_waiting_ > 0) {
    if (changed_.wait_for(lock, kGather) == std::cv_status::no_timeout) return;
  } else if (try_retire_first_batch(lock, kGather, false) || n_waiting_ > 0) {
    return;
  }
  lock.unlock();
  submit_old_batches();
  lock.lock();
}

}  // namespace tenon_vulkan
