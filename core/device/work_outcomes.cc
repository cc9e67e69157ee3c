// The outcomes of work: failures, error records and the origins of launches.

#include <algorithm>

#include "core/base/error_object.h"
#include "core/base/search.h"
#include "core/device/device.h"
#include "core/device/work_queue.h"

namespace tenon {
namespace {

constexpr uint64_t kRecords = 64;     // Number of error records per block of memory.
constexpr uint64_t kRecordStep = 64;  // Each record has its own cache line.

}  // namespace

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

// Records the failure of work of a stream up to `ticket`. The caller holds state_mutex_.
void WorkQueue::add_failure(StreamId stream, uint64_t ticket, const ErrorInfo& error) {
  const Failure why = explain(error, sites_in_flight(uint32_t{1} << stream, ticket));
  if (why->code == Code::kDeviceLost) device_.mark_lost(*why);
  const auto may_have_failed = [&](const Flight& flight) {
    return flight.stream == stream && flight.ticket <= ticket;
  };
  // If the plugin did not report which launch failed (host.launch_failed), every launch up to
  // `ticket` may have failed. Plugins do not report failed copies, so every copy may have failed.
  const bool is_known = why->code != Code::kDeviceLost && any_of(flights_, [&](const Flight& each) {
                          return may_have_failed(each) && failed_.contains(each.ticket);
                        });
  for (const Flight& flight : flights_) {
    if (!may_have_failed(flight) || (is_known && flight.site != kNoSite)) continue;
    failed_.try_emplace(flight.ticket, Failed{why, flight.owner, false});
  }
  propagate_failures(0);
}

// Returns the sites (origins) of unfinished launches of these streams (a bit set), one for each op.
WorkQueue::Sites WorkQueue::sites_in_flight(uint32_t streams, uint64_t upto) const {
  Sites sites;
  for (const Flight& flight : flights_) {
    if (flight.ticket > upto) break;
    if (flight.site == kNoSite || (streams >> flight.stream & 1) == 0) continue;
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
  return explain(error, sites_in_flight(kAllStreams, last_));
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

WorkQueue::Record WorkQueue::acquire_record(StreamId stream) {
  Record record = take_record();
  const std::lock_guard turn(mutex_);
  order_after(stream, record.stream, record.used);
  record.stream = stream;
  return record;
}

WorkQueue::Record WorkQueue::take_record() {
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
    free_records_.push_back({block, at, record, kDefaultStream, 0});
  }
  return take();
}

void WorkQueue::release_record(Record record) {
  const std::lock_guard turn(mutex_);
  record.used = last_ticket(record.stream);
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
