#include "core/device/work_queue.h"

#include <algorithm>
#include <bit>

#include "core/base/error_object.h"
#include "core/base/search.h"
#include "core/device/device.h"

namespace tenon {
namespace {

// Number of launches of a stream between two notifications. Each notification retires finished
// launches.
constexpr uint64_t kNotifyEvery = 256;
// Maximum number of launches of a stream in flight. More would hold memory without keeping the
// device busier.
constexpr size_t kMaxInFlight = 2048;

}  // namespace

WorkQueue::WorkQueue(Device& device) : device_(device) { open_stream(); }

WorkQueue::~WorkQueue() {
  drain();
  for (const Retired& each : retired_) each.end();
  for (tenon_buffer_p* block : record_blocks_) device_.calls().release(block);
  for (uint32_t i = 0; i < n_streams_; ++i) device_.calls().close_stream(streams_[i].handle);
}

uint64_t WorkQueue::assign_ticket(StreamId stream, uint64_t owner, std::span<const uint64_t> inputs,
                                  HeldMemory held, OnFailedInput if_failed, uint32_t site) {
  if (if_failed == OnFailedInput::kThrow) throw_first_failure(inputs);
  Stream& at = streams_[stream];
  // Notify before the new ticket is assigned: a later notification would include the ticket, whose
  // work is not enqueued yet, and report it as finished.
  if (at.since_notify >= kNotifyEvery) notify(stream, {});
  std::lock_guard guard(state_mutex_);
  Flight flight = {last_ + 1, stream, owner, {}, std::move(held), site};
  for (const uint64_t input : inputs) {
    if (input != 0) flight.inputs.push_back(input);
  }
  held_bytes_ += flight.held.bytes;
  flights_.push_back(std::move(flight));
  ++n_in_flight_[stream];
  ++at.since_notify;
  const uint64_t ticket = at.last = ++last_;
  if (const Failure why = find_failure(inputs))
    failed_.try_emplace(ticket, Failed{why, owner, true});
  return ticket;
}

// ---- notifications

// The payload of a notification of the plugin.
class WorkQueue::Notification {
 public:
  Notification(WorkQueue& queue, Arrival arrival) : queue_(queue), arrival_(std::move(arrival)) {
    std::lock_guard guard(queue.state_mutex_);
    // Reserves space, so that arrive() does not allocate on a thread of the plugin.
    queue.arrivals_.reserve(queue.n_pending_notifications_ + 1);
    ++queue.n_pending_notifications_;
  }
  ~Notification() {
    if (has_arrived_) return;
    std::lock_guard guard(queue_.state_mutex_);
    --queue_.n_pending_notifications_;
    queue_.changed_.notify_all();
  }
  Notification(const Notification&) = delete;

  void arrive(const tenon_error* error) {
    has_arrived_ = true;
    if (error) arrival_.error = error->info;
    queue_.arrive(std::move(arrival_));
  }

 private:
  WorkQueue& queue_;
  Arrival arrival_;
  bool has_arrived_ = false;
};

void WorkQueue::notify(StreamId stream, std::function<void()> done) {
  Stream& at = streams_[stream];
  at.since_notify = 0;
  auto made = std::make_unique<Notification>(
      *this, Arrival{stream, at.last, at.after, std::move(done), std::nullopt});
  const tenon_done_callback callback = {
      .function =
          [](void* payload, const tenon_error* error) {
            static_cast<Notification*>(payload)->arrive(error);
          },
      .payload = made.release(),
      .destroy = [](void* payload) { delete static_cast<Notification*>(payload); },
  };
  device_.check(device_.calls().notify(at.handle, callback));
  at.notified = at.last;
}

void WorkQueue::notify_all(uint32_t streams, std::function<void()> done) {
  struct Countdown {
    std::atomic<uint32_t> left;
    std::function<void()> done;
  };
  const auto countdown = std::make_shared<Countdown>();
  countdown->left = static_cast<uint32_t>(std::popcount(streams));
  countdown->done = std::move(done);
  for (StreamId i = 0; i < kMaxStreams; ++i) {
    if ((streams >> i & 1) == 0) continue;
    notify(i, [countdown] {
      if (--countdown->left == 0) countdown->done();
    });
  }
}

// Processes a notification of the plugin, and earlier ones that had to wait for it.
void WorkQueue::arrive(Arrival arrival) {
  std::unique_lock lock(state_mutex_);
  arrivals_.push_back(std::move(arrival));
  while (true) {
    const auto ready = std::find_if(arrivals_.begin(), arrivals_.end(),
                                    [&](const Arrival& each) { return are_finished(each.after); });
    if (ready == arrivals_.end()) return;
    Arrival next = std::move(*ready);
    arrivals_.erase(ready);
    std::vector<Flight> finished;
    finish(next.stream, next.ticket, next.error ? &*next.error : nullptr, Reached::kYes, finished);
    lock.unlock();
    finished.clear();
    if (next.done) next.done();
    next.done = nullptr;
    lock.lock();
    // Set after the callback has run, so that callbacks run in the order of the events.
    finished_[next.stream] = std::max(finished_[next.stream], next.ticket);
    // The queue may be destroyed once the lock is released after the last notification.
    --n_pending_notifications_;
    changed_.notify_all();
  }
}

bool WorkQueue::are_finished(const Tickets& tickets) const {
  for (uint32_t i = 0; i < n_streams_; ++i) {
    if (finished_[i] < tickets[i]) return false;
  }
  return true;
}

// ---- time

std::optional<uint64_t> WorkQueue::mark_time(StreamId stream) {
  if (!has_clock_) return std::nullopt;
  uint64_t mark = 0;
  tenon_error* const error = device_.calls().mark_time(handle(stream), &mark);
  if (!error) return mark;
  has_clock_ = error->info.code != Code::kUnimplemented;
  device_.discard(error);
  return std::nullopt;
}

std::optional<uint64_t> WorkQueue::read_time(StreamId stream, uint64_t mark) {
  uint64_t ns = 0;
  tenon_error* const error = device_.calls().read_time(handle(stream), mark, &ns);
  if (!error) return ns;
  device_.discard(error);
  return std::nullopt;
}

// ---- waiting

void WorkQueue::drain() noexcept {
  try {
    wait_all();
  } catch (const Error&) {
    // The device is lost; there is no caller to report the error to.
  }
  std::unique_lock lock(state_mutex_);
  changed_.wait(lock, [&] { return n_pending_notifications_ == 0; });
}

void WorkQueue::wait_all() {
  for (uint32_t i = 0; i < n_streams_; ++i) wait(static_cast<StreamId>(i));
}

// A device without `wait` reports completion by a callback on its own thread, so a build without
// threads cannot wait for it.
bool WorkQueue::can_wait() const {
#if defined(TENON_NO_THREADS)
  return device_.has(TENON_FEATURE_HOST_BLOCKING);
#else
  return true;
#endif
}

void WorkQueue::wait(StreamId stream) {
  if (device_.has(TENON_FEATURE_HOST_BLOCKING)) {
    uint64_t upto;
    Tickets after;
    {
      // Ensures that the work of every assigned ticket is enqueued.
      std::lock_guard turn(mutex_);
      upto = streams_[stream].last;
      after = streams_[stream].after;
    }
    tenon_error* error = device_.calls().wait(handle(stream));
    Reached reached = Reached::kYes;
    if (error) {
      // The first wait may have returned its error without waiting. Wait again.
      if (tenon_error* again = device_.calls().wait(handle(stream))) {
        device_.discard(again);
        reached = Reached::kPerhaps;
      }
    }
    wait_for_outcomes(after);
    std::vector<Flight> finished;
    {
      std::lock_guard guard(state_mutex_);
      finish(stream, upto, error ? &error->info : nullptr, reached, finished);
#if defined(TENON_NO_THREADS)
      finished_[stream] = std::max(finished_[stream], upto);
#endif
    }
    if (error) device_.discard(error);
    run_finished_retirements();
    return;
  }
#if defined(TENON_NO_THREADS)
  tenon::fail(Code::kUnimplemented,
              "{} cannot wait in a build without threads; use the asynchronous call",
              {device_.name()});
#else
  struct Signal {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
  };
  const auto signal = std::make_shared<Signal>();
  {
    std::lock_guard guard(mutex_);
    notify(stream, [signal] {
      std::lock_guard done(signal->mutex);
      signal->done = true;
      signal->changed.notify_one();
    });
  }
  std::unique_lock lock(signal->mutex);
  signal->changed.wait(lock, [&] { return signal->done; });
  lock.unlock();
  run_finished_retirements();
#endif
}

// Blocks until the outcome of the work up to these tickets is known. The device has completed this
// work, and order_after() has enqueued the notifications that report it.
void WorkQueue::wait_for_outcomes(const Tickets& tickets) {
  std::unique_lock lock(state_mutex_);
#if defined(TENON_NO_THREADS)
  for (uint32_t i = 0; i < n_streams_; ++i) {
    const bool is_known = finished_[i] >= tickets[i];
    lock.unlock();
    if (!is_known) wait(static_cast<StreamId>(i));
    lock.lock();
  }
#else
  changed_.wait(lock, [&] { return are_finished(tickets); });
#endif
}

// Calls `end` after all work enqueued so far has finished.
void WorkQueue::retire(std::function<void()> end) noexcept {
  run_finished_retirements();
  std::lock_guard guard(state_mutex_);
  retired_.push_back({last_, std::move(end)});
}

// Runs the release functions whose work has finished. The caller is a user thread and holds no
// lock.
void WorkQueue::run_finished_retirements() {
  std::vector<Retired> ended;
  {
    std::lock_guard guard(state_mutex_);
    uint64_t under_way = flights_.empty() ? last_ + 1 : flights_.front().ticket;
    for (const Flight& kept : kept_) under_way = std::min(under_way, kept.ticket);
    while (!retired_.empty() && retired_.front().ticket < under_way) {
      ended.push_back(std::move(retired_.front()));
      retired_.pop_front();
    }
  }
  for (const Retired& each : ended) each.end();
}

// Blocks while more work is in progress on the stream than the device needs to stay busy.
void WorkQueue::throttle(StreamId stream) {
#if !defined(TENON_NO_THREADS)
  std::unique_lock lock(state_mutex_);
  if (n_in_flight_[stream] < kMaxInFlight) [[likely]]
    return;
  // This wait ends: all but the last kNotifyEvery launches have a pending notification.
  changed_.wait(lock, [&] { return n_in_flight_[stream] < kMaxInFlight / 2; });
#else
  (void)stream;
#endif
}

// Returns the bytes of host memory that unfinished work keeps alive.
uint64_t WorkQueue::held_bytes() const {
  std::lock_guard guard(state_mutex_);
  return held_bytes_;
}

// Records that all work of a stream up to `ticket` has finished. `error` is the stream's first
// failure, or NULL. If the wait failed (Reached::kPerhaps), the work may still be running, so its
// memory is kept until a later wait succeeds. The caller holds state_mutex_.
void WorkQueue::finish(StreamId stream, uint64_t ticket, const ErrorInfo* error, Reached reached,
                       std::vector<Flight>& finished) {
  if (error) add_failure(stream, ticket, *error);
  const bool is_over = reached == Reached::kYes;
  const auto move_to = [](auto& to, Flight& flight) { to.push_back(std::move(flight)); };
  if (is_over && !kept_.empty()) [[unlikely]] {
    std::erase_if(kept_, [&](Flight& flight) {
      const bool ends = flight.stream == stream && flight.ticket <= ticket;
      if (ends) move_to(finished, flight);
      return ends;
    });
  }
  // Flights of other streams move to the front and stay.
  auto stays = flights_.begin(), next = flights_.begin();
  for (; next != flights_.end() && next->ticket <= ticket; ++next) {
    if (next->stream == stream) {
      held_bytes_ -= next->held.bytes;
      --n_in_flight_[stream];
      is_over ? move_to(finished, *next) : move_to(kept_, *next);
    } else {
      if (stays != next) *stays = std::move(*next);
      ++stays;
    }
  }
  flights_.erase(stays, next);
  changed_.notify_all();
}

}  // namespace tenon
