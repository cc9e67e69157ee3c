// The queue of an asynchronous device: tracks enqueued launches and their failures.
//
// All work runs in order on one stream. Each launch has a ticket, an increasing number, and each
// storage keeps the ticket of its last writer. A failed launch therefore invalidates only its
// outputs. A call that reads such an output fails with the same error. If the call was enqueued
// before the failure was known, its own outputs fail with that error, too.

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

// Host memory that enqueued work uses, kept alive until the work has finished.
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

  // ---- enqueuing: the caller holds mutex(), but not while it runs a kernel or waits ----
  std::mutex& mutex() { return mutex_; }
  tenon_stream_p* stream() const { return stream_; }

  // What to do with work whose input has already failed. kThrow: assign_ticket() throws.
  // kPropagate: the work fails with the input's error, as it would if it had been enqueued earlier.
  enum class OnFailedInput : uint8_t { kThrow, kPropagate };

  // The site of work that is not a launch of an op, such as a copy.
  static constexpr uint32_t kNoSite = ~uint32_t{0};

  // Assigns a ticket to the work that is enqueued next. `inputs`: tickets of the launches that
  // wrote its inputs. `owner`: the scope, for take_failure(). `site`: the origin that an error
  // names.
  uint64_t assign_ticket(uint64_t owner, std::span<const uint64_t> inputs, HeldMemory held = {},
                         OnFailedInput if_failed = OnFailedInput::kThrow, uint32_t site = kNoSite);

  // Calls `done` on a thread of the plugin after all work enqueued so far has finished.
  void notify(std::function<void()> done);

  // Enqueues a time mark and returns its number; nothing if the device has no clock.
  std::optional<uint64_t> mark_time();

  // ---- waiting: the caller does not hold mutex() ----
  bool can_wait() const;
  // Blocks until all work enqueued so far has finished, and records its failures.
  void wait();
  // Like wait(), and also waits until every `notify` callback has returned.
  void drain() noexcept;
  // Blocks while more work is in progress than the device needs to stay busy.
  void throttle();
  // Bytes of host memory that unfinished work keeps alive.
  uint64_t held_bytes() const;

  // Returns the time in nanoseconds of a mark that the device has reached; nothing on failure. Must
  // not be called from a `done` callback of notify().
  std::optional<uint64_t> read_time(uint64_t mark);

  // Calls `end` after all work enqueued so far has finished. The call of `end` happens during a
  // later call on the queue, or in its destructor.
  void retire(std::function<void()> end) noexcept;

  // ---- outcomes ----
  // Throws the error of the first of these tickets that failed.
  void throw_first_failure(std::span<const uint64_t> tickets);
  // Records the plugin's report that an enqueued launch failed. Callable from any thread.
  [[gnu::cold]] void fail(uint64_t ticket, ErrorInfo error);
  // Returns the error with the ops in progress, which may have caused it, added to its message.
  [[gnu::cold]] Failure explain(const ErrorInfo& error) const;
  // Returns why the work of this ticket failed, and marks the failure as reported; NULL if the work
  // did not fail.
  Failure take_failure_of(uint64_t ticket);
  // Returns the first unreported failure of work of `owner`; NULL if there is none.
  Failure take_failure(uint64_t owner);

  // ---- error records ----
  // An error record in device memory. It is not cleared: it may still hold its previous owner's
  // error.
  struct Record {
    tenon_buffer_p* buffer = nullptr;
    uint64_t offset = 0;
    // Host pointer to the record; NULL if the memory is not host-visible.
    tenon_error_record* data = nullptr;
  };
  // Returns an unused error record, which the caller must pass to release_record() later.
  [[gnu::cold]] Record acquire_record();
  void release_record(const Record& record);

  // The origin of a launch, for error messages.
  struct Site {
    std::string op;
    std::string rule;  // The label of the op's rule that an index out of range violates.
    std::string location;
  };
  // Returns the number of a site. Equal arguments have equal numbers.
  uint32_t site_of(std::string_view op, std::string_view rule, const std::string& location);
  // Returns the site with this number.
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
  // Records that all work up to `ticket` has finished; `error` is its first failure, or NULL.
  void finish(uint64_t ticket, const tenon_error* error, Reached reached);
  using Sites = SmallVector<uint32_t, 8>;
  [[gnu::cold]] Sites sites_in_flight(uint64_t upto) const;
  [[gnu::cold]] Failure explain(const ErrorInfo& error, std::span<const uint32_t> sites) const;
  // Propagates failures to launches after ticket `first` that read failed outputs.
  [[gnu::cold]] void propagate_failures(uint64_t first);
  // Marks all failures with this cause as reported to the user.
  void mark_reported(const Failure& why);
  // Returns the failure of the first of `tickets` that failed; NULL if none failed.
  Failure find_failure(std::span<const uint64_t> tickets) const;
  // Calls the functions passed to retire() whose work has finished.
  void run_finished_retirements();

  Device& device_;
  tenon_stream_p* stream_ = nullptr;
  std::mutex mutex_;
  uint64_t since_notify_ = 0;
  bool has_clock_ = true;  // False once the device has reported that it has no clock.

  // Guards all members below. Locked after mutex_, and not held while a plugin function or a
  // callback runs.
  mutable std::mutex state_mutex_;
  std::condition_variable changed_;
  uint64_t last_ = 0;
  size_t n_pending_notifications_ = 0;  // Pending notify callbacks.
  uint64_t held_bytes_ = 0;
  std::deque<Flight> flights_;  // Launches whose work is not known to have finished.
  // Launches that probably finished: a wait for them failed and may have returned early.
  std::deque<Flight> kept_;
  std::deque<Retired> retired_;
  std::map<uint64_t, Failed> failed_;  // An entry for each ticket that failed.
  std::vector<tenon_buffer_p*> record_blocks_;
  std::vector<Record> free_records_;
  std::vector<Site> sites_;
  std::map<std::string, uint32_t, std::less<>> site_numbers_;
};

}  // namespace tenon
