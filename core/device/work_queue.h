// The work of an asynchronous device: what is in progress, and its outcome.
//
// All work goes to one stream, in order. Each launch has a ticket, an increasing number. Each
// storage keeps the ticket of the launch that wrote it last. So a launch that fails after it was
// enqueued poisons its outputs and nothing else. A later use of such a storage fails with the same
// error. A launch that used one before the failure was known propagates the error to its outputs.

#pragma once

#include <tenon/plugin.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/small_vector.h"

namespace tenon {

class Device;

// Host memory that is kept alive until the work that uses it has finished.
struct HeldMemory {
  std::shared_ptr<void> memory;
  uint64_t bytes = 0;
};

class WorkQueue {
 public:
  using Failure = std::shared_ptr<const ErrorInfo>;

  // Opens the stream.
  explicit WorkQueue(Device& device);
  // Drains the stream, then closes it.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;

  // ---- enqueuing: the caller holds the lock, but never while a kernel or a wait runs ----
  std::mutex& mutex() { return mutex_; }
  tenon_stream_p* stream() const { return stream_; }

  // What happens to work whose input is known to have failed. kThrow: the caller fails. kPropagate:
  // the work fails with the same error, as if it had been enqueued before the failure was known.
  enum class OnFailedInput : uint8_t { kThrow, kPropagate };

  static constexpr uint32_t kNoSite = ~uint32_t{0};  // For work that is not a launch of an op.

  // Assigns a ticket to the next work. `inputs`: tickets of the work that wrote its inputs.
  // `owner`: identifies the scope. `site`: names the op in the error if the work fails.
  uint64_t announce(uint64_t owner, std::span<const uint64_t> inputs, HeldMemory held = {},
                    OnFailedInput if_failed = OnFailedInput::kThrow, uint32_t site = kNoSite);

  // Calls `done` on a plugin's thread when all work enqueued so far has finished.
  void notify(std::function<void()> done);

  // Enqueues a time mark by the device's clock; nothing if the device has no clock.
  std::optional<uint64_t> mark_time();

  // ---- waiting: without the lock ----
  bool can_wait() const;
  // Blocks until all work enqueued so far has finished. Its failures are then known.
  void wait();
  // Like wait(), and also waits until every `notify` callback has returned.
  void drain() noexcept;
  // Blocks while more work is in progress than the device needs to stay busy.
  void throttle();
  uint64_t held_bytes() const;

  // The time of a mark that was passed; nothing on failure. Must not be called from `done`.
  std::optional<uint64_t> read_time(uint64_t mark);

  // Calls `end` after all work enqueued so far has finished: during a later call, or when the queue
  // is destroyed.
  void retire(std::function<void()> end) noexcept;

  // ---- outcomes ----
  // Throws the error of the first of these tickets that failed.
  void require_sound(std::span<const uint64_t> tickets);
  // Records the plugin's report that an enqueued launch failed. Callable from any thread.
  [[gnu::cold]] void fail(uint64_t ticket, ErrorInfo error);
  // Adds to an error the ops of the work in progress that may have caused it.
  [[gnu::cold]] Failure explain(const ErrorInfo& error) const;
  // Why the work of this ticket failed, and marks it as reported; NULL if it did not fail.
  Failure take_failure_of(uint64_t ticket);
  // The first unreported failure of an owner's work; NULL if there is none.
  Failure take_failure(uint64_t owner);

  // ---- error records ----
  // The location of an error record in device memory. Its content is left from the previous owner.
  struct Record {
    tenon_buffer_p* buffer = nullptr;
    uint64_t offset = 0;
    tenon_error_record* data = nullptr;  // The host's pointer to it; NULL if not host-visible.
  };
  [[gnu::cold]] Record take_record();
  void give_back(const Record& record);

  // The origin of a launch.
  struct Site {
    std::string op;
    std::string rule;  // The op's rule, for the error about an index out of range.
    std::string location;
  };
  uint32_t site_of(std::string_view op, std::string_view rule, const std::string& location);
  Site site(uint32_t number) const;

 private:
  struct Flight {
    uint64_t ticket;
    uint64_t owner;
    SmallVector<uint64_t, 4> inputs;
    HeldMemory held;
    uint32_t site;
  };
  struct Failed {
    Failure why;
    uint64_t owner;
    bool told;
  };

  struct Retired {
    uint64_t ticket;
    std::function<void()> end;
  };

  enum class Reached { kYes, kPerhaps };
  void finish(uint64_t ticket, const tenon_error* error, Reached reached);
  using Sites = SmallVector<uint32_t, 8>;
  [[gnu::cold]] Sites sites_under_way(uint64_t upto) const;
  [[gnu::cold]] Failure explain(const ErrorInfo& error, std::span<const uint32_t> sites) const;
  [[gnu::cold]] void spread(uint64_t first);
  void mark_reported(const Failure& why);
  Failure find_failure(std::span<const uint64_t> tickets) const;
  void end_retired();

  Device& device_;
  tenon_stream_p* stream_ = nullptr;
  std::mutex mutex_;
  uint64_t since_notify_ = 0;
  bool has_clock_ = true;  // False once the device has reported that it has no clock.

  mutable std::mutex
      state_mutex_;  // Guards all members below. Locked last, and never held across a call.
  std::condition_variable changed_;
  uint64_t last_ = 0;
  size_t n_pending_notifications_ = 0;  // Pending notify callbacks.
  uint64_t held_bytes_ = 0;
  std::deque<Flight> flights_;  // Announced and not known to have finished.
  std::deque<Flight> kept_;     // Finished, unless the wait for them failed early.
  std::deque<Retired> retired_;
  std::map<uint64_t, Failed> failed_;  // An entry for each ticket that failed.
  std::vector<tenon_buffer_p*> record_blocks_;
  std::vector<Record> free_records_;
  std::vector<Site> sites_;
  std::map<std::string, uint32_t, std::less<>> site_numbers_;
};

}  // namespace tenon
