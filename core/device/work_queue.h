// The queue of an asynchronous device: tracks enqueued launches and their failures.
//
// Each launch has a ticket, an increasing number, and each storage keeps the ticket of its last
// writer. A failed launch therefore invalidates only its outputs. A call that reads such an output
// fails with the same error. If the call was enqueued before the failure was known, its own outputs
// fail with that error, too.
//
// A device has a default stream, and programs may open more. Each stream runs its work in order. If
// work uses memory that another stream has written, or writes memory that another stream has used,
// the queue inserts an event, so that the work follows the earlier work (MemoryUse).

#pragma once

#include <tenon/plugin.h>

#include <array>
#include <atomic>
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
#include "core/tensor/storage.h"

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

  // The maximum number of streams of a device, including the default stream.
  static constexpr size_t kMaxStreams = 32;
  static constexpr StreamId kDefaultStream = 0;
  // A ticket of each stream.
  using Tickets = std::array<uint64_t, kMaxStreams>;

  // Opens the default stream.
  explicit WorkQueue(Device& device);
  // Drains all streams, then closes them.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;

  // ---- streams ----
  // Returns a stream without users, and makes the caller its user. Opens it if there is none. Its
  // work follows all work that is on the default stream now. Streams stay open until the queue is
  // destroyed, because work, time marks and error records may refer to them.
  StreamId acquire_stream();
  // Adds a user of a stream.
  void share_stream(StreamId stream);
  // Removes a user of a stream. Another program may acquire a stream without users.
  void release_stream(StreamId stream);

  // Orders the work that one call enqueues on a stream. The constructor makes this work follow all
  // earlier writes, on other streams, to the memory that the work reads, and all earlier uses of
  // the memory that it writes. The destructor marks the memory as used. The caller does not hold
  // mutex(). The arrays must outlive the object; NULL entries are ignored.
  class MemoryUse {
   public:
    using Storages = std::span<const Storage* const>;
    MemoryUse(WorkQueue& queue, StreamId stream, Storages reads, Storages writes)
        : queue_(queue), stream_(stream), reads_(reads), writes_(writes) {
      if (queue.has_streams_.load(std::memory_order_acquire)) [[unlikely]]
        queue.order_use(stream, reads, writes);
    }
    ~MemoryUse() {
      if (queue_.has_streams_.load(std::memory_order_acquire)) [[unlikely]]
        queue_.mark_use(stream_, reads_, writes_);
    }
    MemoryUse(const MemoryUse&) = delete;

   private:
    WorkQueue& queue_;
    const StreamId stream_;
    const Storages reads_, writes_;
  };

  // ---- enqueuing: the caller holds mutex(), but not while it runs a kernel or waits ----
  // One lock for all streams, because a recording is replayed by one thread at a time.
  std::mutex& mutex() { return mutex_; }
  tenon_stream_p* handle(StreamId stream) const { return streams_[stream].handle; }

  // A point in a stream: the end of its work when the event was recorded.
  struct EventPoint {
    tenon_event_p* handle = nullptr;
    StreamId stream = kDefaultStream;
    uint64_t ticket = 0;  // Ticket of the last work before the event.
    Tickets after = {};   // This work followed the work of the other streams up to these tickets.
  };
  // Records an event at the current end of a stream. The caller must pass it to release_event().
  EventPoint record_event(StreamId stream);

  // Make later work on `stream` follow the work of another stream up to `ticket`, or the uses of
  // some memory or recording.
  void order_after(StreamId stream, StreamId other, uint64_t ticket);
  void order_after(StreamId stream, const StreamUse& use);
  void order_after(StreamId stream, const EventPoint& event);
  // Returns the ticket of the last work on a stream.
  uint64_t last_ticket(StreamId stream) const { return streams_[stream].last; }

  // What to do with work whose input has already failed. kThrow: assign_ticket() throws.
  // kPropagate: the work fails with the input's error, as it would if it had been enqueued earlier.
  enum class OnFailedInput : uint8_t { kThrow, kPropagate };

  // The site of work that is not a launch of an op, such as a copy.
  static constexpr uint32_t kNoSite = ~uint32_t{0};

  void release_event(const EventPoint& event);

  // Assigns a ticket to the work that is enqueued next on `stream`. `inputs`: tickets of the
  // launches that wrote its inputs. `owner`: the scope, for take_failure(). `site`: the origin that
  // an error names.
  uint64_t assign_ticket(StreamId stream, uint64_t owner, std::span<const uint64_t> inputs,
                         HeldMemory held = {}, OnFailedInput if_failed = OnFailedInput::kThrow,
                         uint32_t site = kNoSite);

  // Calls `done` on a thread of the plugin after all work of the stream enqueued so far has
  // finished.
  void notify(StreamId stream, std::function<void()> done);
  // Calls `done` on a thread of the plugin after all work of these streams (a bit set) enqueued so
  // far has finished.
  void notify_all(uint32_t streams, std::function<void()> done);

  // Enqueues a time mark and returns its number; nothing if the device has no clock.
  std::optional<uint64_t> mark_time(StreamId stream);

  // ---- waiting: the caller does not hold mutex() ----
  bool can_wait() const;
  // Blocks until all work of a stream enqueued so far has finished, and records its failures.
  void wait(StreamId stream);
  // Blocks until all work of all streams enqueued so far has finished.
  void wait_all();
  // Like wait_all(), and also waits until every `notify` callback has returned.
  void drain() noexcept;
  // Blocks while more work is in progress on the stream than the device needs to stay busy.
  void throttle(StreamId stream);
  // Bytes of host memory that unfinished work keeps alive.
  uint64_t held_bytes() const;

  // Returns the time in nanoseconds of a mark that the stream has reached; nothing on failure. Must
  // not be called from a `done` callback of notify().
  std::optional<uint64_t> read_time(StreamId stream, uint64_t mark);

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
    StreamId stream = kDefaultStream;  // The stream that uses the record, or used it last.
    uint64_t used = 0;                 // Ticket of the last work that used the released record.
  };
  // Returns an unused error record, which the caller must pass to release_record() later. Work on
  // `stream` that is enqueued later may use it.
  [[gnu::cold]] Record acquire_record(StreamId stream);
  void release_record(Record record);

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
    StreamId stream;
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

  struct Stream {
    tenon_stream_p* handle = nullptr;
    uint64_t last = 0;      // Ticket of the last work.
    uint64_t notified = 0;  // Ticket of the last work that an enqueued notification includes.
    uint64_t since_notify = 0;
    // Later work follows the work of each other stream up to this ticket.
    Tickets after = {};
    uint32_t n_users = 0;
  };
  // Reports that the work of a stream up to `ticket` has finished.
  struct Arrival {
    StreamId stream;
    uint64_t ticket;
    // The work followed the work of the other streams up to these tickets. Its outcome is therefore
    // known only when the outcome of that work is known.
    Tickets after;
    std::function<void()> done;
    std::optional<ErrorInfo> error;
  };
  class Notification;

  // Adds the events that order the work on `stream` after the earlier uses of this memory.
  [[gnu::cold]] void order_use(StreamId stream, MemoryUse::Storages reads,
                               MemoryUse::Storages writes);
  [[gnu::cold]] void mark_use(StreamId stream, MemoryUse::Storages reads,
                              MemoryUse::Storages writes);
  StreamId open_stream();
  [[gnu::cold]] Record take_record();
  // Processes a notification of the plugin, and earlier ones that had to wait for it.
  void arrive(Arrival arrival);
  // Whether the outcome of the work up to these tickets is known.
  bool are_finished(const Tickets& tickets) const;
  // Blocks until the outcome of the work up to these tickets is known.
  void wait_for_outcomes(const Tickets& tickets);

  enum class Reached { kYes, kPerhaps };
  // Records that all work of a stream up to `ticket` has finished; `error` is its first failure, or
  // NULL. Appends the finished launches to `finished`, which must be destroyed outside the lock.
  void finish(StreamId stream, uint64_t ticket, const ErrorInfo* error, Reached reached,
              std::vector<Flight>& finished);
  // Records the failure of work of a stream up to `ticket`.
  [[gnu::cold]] void add_failure(StreamId stream, uint64_t ticket, const ErrorInfo& error);
  using Sites = SmallVector<uint32_t, 8>;
  static constexpr uint32_t kAllStreams = ~uint32_t{0};
  [[gnu::cold]] Sites sites_in_flight(uint32_t streams, uint64_t upto) const;
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
  std::mutex mutex_;
  std::array<Stream, kMaxStreams> streams_;  // Guarded by mutex_, except for open handles.
  std::atomic<uint32_t> n_streams_{0};       // Number of open streams.
  std::atomic<bool> has_streams_{false};     // Whether there are streams besides the default one.
  std::atomic<bool> has_clock_{true};  // False once the device has reported that it has no clock.

  // Guards all members below. Locked after mutex_, and not held while a plugin function or a
  // callback runs.
  mutable std::mutex state_mutex_;
  std::condition_variable changed_;
  uint64_t last_ = 0;
  size_t n_pending_notifications_ = 0;  // Pending notify callbacks.
  uint64_t held_bytes_ = 0;
  Tickets finished_ = {};  // The outcome of the work of each stream is known up to this ticket.
  std::array<size_t, kMaxStreams> n_in_flight_ = {};  // Number of flights_ of each stream.
  std::vector<Arrival> arrivals_;  // Notifications that wait for the outcome of other streams.
  // Launches whose work is not known to have finished, by ticket.
  std::deque<Flight> flights_;
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
