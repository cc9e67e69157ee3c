#include "core/device/work_queue.h"

#include <algorithm>

#include "core/base/error_object.h"
#include "core/base/search.h"
#include "core/device/device.h"

namespace tenon {
namespace {

// Number of launches between two notifications. Each notification retires finished launches.
constexpr uint64_t kNotifyEvery = 256;
constexpr uint64_t kRecords = 64;     // Number of error records per block of memory.
constexpr uint64_t kRecordStep = 64;  // Each record has its own cache line.
// Maximum number of launches in flight. More would hold memory without keeping the device busier.
constexpr size_t kMaxInFlight = 2048;

}  // namespace

WorkQueue::WorkQueue(Device& device) : device_(device) { stream_ = device.open_stream(); }

WorkQueue::~WorkQueue() {
  drain();
  for (const Retired& each : retired_) each.end();
  for (tenon_buffer_p* block : record_blocks_) device_.calls().release(block);
  device_.calls().close_stream(stream_);
}

void WorkQueue::drain() noexcept {
  try {
    wait();
  } catch (const Error&) {
    // The device is lost; there is no caller to report the error to.
  }
  std::unique_lock lock(state_mutex_);
  changed_.wait(lock, [&] { return n_pending_notifications_ == 0; });
}

// Returns the failure of the first of `tickets` that failed. The caller holds state_mutex_.
WorkQueue::Failure WorkQueue::find_failure(std::span<const uint64_t> tickets) const {
  if (failed_.empty()) [[likely]]
    return nullptr;
  for (const uint64_t ticket : tickets) {
    if (const auto failed = failed_.find(ticket); failed != failed_.end()) {
      return failed->second.why;
    }
  }
  return nullptr;
}

void WorkQueue::throw_first_failure(std::span<const uint64_t> tickets) {
  std::lock_guard guard(state_mutex_);
  const Failure why = find_failure(tickets);
  if (!why) [[likely]]
    return;
  mark_reported(why);
  throw Error(*why);
}

uint64_t WorkQueue::assign_ticket(uint64_t owner, std::span<const uint64_t> inputs, HeldMemory held,
                                  OnFailedInput if_failed, uint32_t site) {
  if (if_failed == OnFailedInput::kThrow) throw_first_failure(inputs);
  // Notify before the new ticket is assigned: a later notification would include the ticket, whose
  // work is not enqueued yet, and report it as finished.
  if (since_notify_ >= kNotifyEvery) notify({});
  std::lock_guard guard(state_mutex_);
  Flight flight = {last_ + 1, owner, {}, std::move(held), site};
  for (const uint64_t input : inputs) {
    if (input != 0) flight.inputs.push_back(input);
  }
  held_bytes_ += flight.held.bytes;
  flights_.push_back(std::move(flight));
  ++since_notify_;
  const uint64_t ticket = ++last_;
  if (const Failure why = find_failure(inputs))
    failed_.try_emplace(ticket, Failed{why, owner, true});
  return ticket;
}

void WorkQueue::notify(std::function<void()> done) {
  struct Answer {
    WorkQueue& queue;
    uint64_t ticket;
    std::function<void()> done;
  };
  since_notify_ = 0;
  std::unique_ptr<Answer> answer;
  {
    std::lock_guard guard(state_mutex_);
    answer.reset(new Answer{*this, last_, std::move(done)});
    ++n_pending_notifications_;
  }
  const tenon_done_callback callback = {
      .function =
          [](void* payload, const tenon_error* error) {
            auto& self = *static_cast<Answer*>(payload);
            self.queue.finish(self.ticket, error, Reached::kYes);
            if (self.done) self.done();
          },
      .payload = answer.release(),
      .destroy =
          [](void* payload) {
            const std::unique_ptr<Answer> self(static_cast<Answer*>(payload));
            WorkQueue& queue = self->queue;
            std::lock_guard guard(queue.state_mutex_);
            --queue.n_pending_notifications_;
            queue.changed_.notify_all();
          },
  };
  device_.check(device_.calls().notify(stream_, callback));
}

std::optional<uint64_t> WorkQueue::mark_time() {
  if (!has_clock_) return std::nullopt;
  uint64_t mark = 0;
  tenon_error* const error = device_.calls().mark_time(stream_, &mark);
  if (!error) return mark;
  has_clock_ = error->info.code != Code::kUnimplemented;
  device_.discard(error);
  return std::nullopt;
}

std::optional<uint64_t> WorkQueue::read_time(uint64_t mark) {
  uint64_t ns = 0;
  tenon_error* const error = device_.calls().read_time(stream_, mark, &ns);
  if (!error) return ns;
  device_.discard(error);
  return std::nullopt;
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

void WorkQueue::wait() {
  if (device_.has(TENON_FEATURE_HOST_BLOCKING)) {
    uint64_t upto;
    {
      // Ensures that the work of every assigned ticket is enqueued.
      std::lock_guard turn(mutex_);
      std::lock_guard guard(state_mutex_);
      upto = last_;
    }
    tenon_error* error = device_.calls().wait(stream_);
    Reached reached = Reached::kYes;
    if (error) {
      // The first wait may have returned its error without waiting. Wait again.
      if (tenon_error* again = device_.calls().wait(stream_)) {
        device_.discard(again);
        reached = Reached::kPerhaps;
      }
    }
    finish(upto, error, reached);
    if (error) device_.discard(error);
    run_finished_retirements();
    return;
  }
#if defined(TENON_NO_THREADS)
  fail(Code::kUnimplemented, "{} cannot wait in a build without threads; use the asynchronous call",
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
    notify([signal] {
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
    const uint64_t under_way = !kept_.empty()      ? kept_.front().ticket
                               : !flights_.empty() ? flights_.front().ticket
                                                   : last_ + 1;
    while (!retired_.empty() && retired_.front().ticket < under_way) {
      ended.push_back(std::move(retired_.front()));
      retired_.pop_front();
    }
  }
  for (const Retired& each : ended) each.end();
}

// Blocks while more work is in progress than the device needs to stay busy.
void WorkQueue::throttle() {
#if !defined(TENON_NO_THREADS)
  std::unique_lock lock(state_mutex_);
  if (flights_.size() < kMaxInFlight) [[likely]]
    return;
  // This wait ends: all but the last kNotifyEvery launches have a pending notification.
  changed_.wait(lock, [&] { return flights_.size() < kMaxInFlight / 2; });
#endif
}

// Returns the bytes of host memory that unfinished work keeps alive.
uint64_t WorkQueue::held_bytes() const {
  std::lock_guard guard(state_mutex_);
  return held_bytes_;
}

// Records that all work up to `ticket` has finished. `error` is the stream's first failure, or
// NULL. If the wait failed (Reached::kPerhaps), the work may still be running, so its memory is
// kept until a later wait succeeds.
void WorkQueue::finish(uint64_t ticket, const tenon_error* error, Reached reached) {
  std::deque<Flight> finished;  // Destroyed outside the lock.
  std::lock_guard guard(state_mutex_);
  if (error) {
    const Failure why = explain(error->info, sites_in_flight(ticket));
    if (why->code == Code::kDeviceLost) device_.mark_lost(*why);
    // If the plugin did not report which launch failed (host.launch_failed), every launch up to
    // `ticket` may have failed. Plugins do not report failed copies, so every copy may have failed.
    const bool is_known =
        why->code != Code::kDeviceLost && any_of(flights_, [&](const Flight& flight) {
          return flight.ticket <= ticket && failed_.contains(flight.ticket);
        });
    for (const Flight& flight : flights_) {
      if (flight.ticket > ticket) break;
      if (is_known && flight.site != kNoSite) continue;
      failed_.try_emplace(flight.ticket, Failed{why, flight.owner, false});
    }
    propagate_failures(0);
  }
  while (!flights_.empty() && flights_.front().ticket <= ticket) {
    held_bytes_ -= flights_.front().held.bytes;
    kept_.push_back(std::move(flights_.front()));
    flights_.pop_front();
  }
  while (reached == Reached::kYes && !kept_.empty() && kept_.front().ticket <= ticket) {
    finished.push_back(std::move(kept_.front()));
    kept_.pop_front();
  }
  changed_.notify_all();
}

// Returns the sites (origins) of unfinished launches, one for each op.
WorkQueue::Sites WorkQueue::sites_in_flight(uint64_t upto) const {
  Sites sites;
  for (const Flight& flight : flights_) {
    if (flight.ticket > upto) break;
    if (flight.site == kNoSite) continue;
    const bool is_known = std::any_of(sites.begin(), sites.end(), [&](uint32_t site) {
      return sites_[site].op == sites_[flight.site].op;
    });
    if (!is_known) sites.push_back(flight.site);
  }
  return sites;
}

// Returns the error with the ops in progress, which may have caused it, added to its message.
WorkQueue::Failure WorkQueue::explain(const ErrorInfo& error) const {
  std::lock_guard guard(state_mutex_);
  return explain(error, sites_in_flight(last_));
}

// Returns the plugin's error with the ops at `sites` added: the one that failed, or all that may
// have failed.
WorkQueue::Failure WorkQueue::explain(const ErrorInfo& error,
                                      std::span<const uint32_t> sites) const {
  auto why = std::make_shared<ErrorInfo>(error);
  if (why->device.empty()) why->device = device_.name();
  if (sites.size() == 1 && why->op.empty()) {
    const Site& site = sites_[sites[0]];
    why->op = site.op;
    why->location = site.location;
    why->message.insert(0, site.op + ": ");
  }
  for (size_t i = 0; sites.size() > 1 && i < sites.size(); ++i) {
    why->message += i == 0 ? "; in progress: " : ", ";
    why->message += sites_[sites[i]].op;
  }
  return why;
}

// Records that the launch with this ticket failed.
void WorkQueue::fail(uint64_t ticket, ErrorInfo error) {
  std::lock_guard guard(state_mutex_);
  uint64_t owner = 0;
  uint32_t site = kNoSite;
  for (const Flight& flight : flights_) {
    if (flight.ticket != ticket) continue;
    owner = flight.owner;
    site = flight.site;
  }
  const Failure why = explain(error, {&site, site == kNoSite ? 0u : 1u});
  if (why->code == Code::kDeviceLost) device_.mark_lost(*why);
  failed_.try_emplace(ticket, Failed{why, owner, false});
  propagate_failures(ticket);
}

// Propagates failures to launches after ticket `first` that read failed outputs. They fail for the
// same reason, which is not reported to the user again.
void WorkQueue::propagate_failures(uint64_t first) {
  for (const Flight& flight : flights_) {
    if (flight.ticket <= first) continue;
    for (const uint64_t input : flight.inputs) {
      const auto failed = failed_.find(input);
      if (failed == failed_.end()) continue;
      failed_.try_emplace(flight.ticket, Failed{failed->second.why, flight.owner, true});
      break;
    }
  }
}

// Marks all failures with this cause as reported.
void WorkQueue::mark_reported(const Failure& why) {
  for (auto& [ticket, failed] : failed_) failed.told = failed.told || failed.why == why;
}

// Returns why the work of this ticket failed, and marks the failure as reported.
WorkQueue::Failure WorkQueue::take_failure_of(uint64_t ticket) {
  std::lock_guard guard(state_mutex_);
  const auto failed = failed_.find(ticket);
  if (failed == failed_.end()) return nullptr;
  mark_reported(failed->second.why);
  return failed->second.why;
}

// Returns the first unreported failure of work of `owner`, and marks it as reported.
WorkQueue::Failure WorkQueue::take_failure(uint64_t owner) {
  std::lock_guard guard(state_mutex_);
  for (const auto& [ticket, failed] : failed_) {
    if (failed.told || failed.owner != owner) continue;
    const Failure why = failed.why;
    mark_reported(why);
    return why;
  }
  return nullptr;
}

WorkQueue::Record WorkQueue::acquire_record() {
  const auto take = [this] {
    const Record record = free_records_.back();
    free_records_.pop_back();
    return record;
  };
  {
    std::lock_guard guard(state_mutex_);
    if (!free_records_.empty()) return take();
  }
  tenon_buffer_p* block = nullptr;
  device_.check(device_.calls().allocate(device_.handle(), kRecords * kRecordStep, &block));
  auto* const data =
      device_.host_visible() ? static_cast<std::byte*>(device_.calls().map(block)) : nullptr;
  std::lock_guard guard(state_mutex_);
  record_blocks_.push_back(block);
  for (uint64_t at = 0; at < kRecords * kRecordStep; at += kRecordStep) {
    auto* const record = data ? reinterpret_cast<tenon_error_record*>(data + at) : nullptr;
    free_records_.push_back({block, at, record});
  }
  return take();
}

void WorkQueue::release_record(const Record& record) {
  std::lock_guard guard(state_mutex_);
  free_records_.push_back(record);
}

uint32_t WorkQueue::site_of(std::string_view op, std::string_view rule,
                            const std::string& location) {
  // Programs supply the source locations, so their number is unbounded. When this many sites exist,
  // errors at new locations name the op only.
  constexpr size_t kMaxSites = 65536;
  std::string key(op);
  key += '\n';
  const size_t n_op = key.size();
  key += location;
  std::lock_guard guard(state_mutex_);
  const bool is_full = sites_.size() >= kMaxSites;
  if (is_full && !site_numbers_.contains(key)) key.resize(n_op);
  const bool has_line = key.size() > n_op;
  const auto [entry, is_new] =
      site_numbers_.try_emplace(std::move(key), static_cast<uint32_t>(sites_.size()));
  if (is_new) {
    sites_.push_back({std::string(op), std::string(rule), has_line ? location : std::string()});
  }
  return entry->second;
}

WorkQueue::Site WorkQueue::site(uint32_t number) const {
  std::lock_guard guard(state_mutex_);
  return number < sites_.size() ? sites_[number] : Site{};
}

}  // namespace tenon
