// The work of an asynchronous device: what is on its way, and what became of it.
//
// Everything goes to one stream, in order. Each launch has a ticket, a number that grows, and a
// storage remembers the ticket of what wrote it last. So a launch that fails after it was enqueued
// poisons what it would have written and nothing else: whoever uses such a storage gets its error,
// and a launch that used one before anyone knew hands the error on.

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

// Host memory that is kept until the work that uses it has finished.
struct HeldMemory {
  std::shared_ptr<void> memory;
  uint64_t bytes = 0;
};

class WorkQueue {
 public:
  using Failure = std::shared_ptr<const ErrorInfo>;

  // Opens the stream.
  explicit WorkQueue(Device& device);
  // Drains it, then closes it.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;

  // ---- enqueuing: who does so holds the lock, and never while a kernel or a wait runs ----
  std::mutex& mutex() { return mutex_; }
  tenon_stream_p* stream() const { return stream_; }

  // What becomes of work that reads what is known to have failed: its caller fails, or it fails
  // like work that read it before anyone knew.
  enum class IfFailed : uint8_t { kThrow, kHandOn };

  static constexpr uint32_t kNoSite = ~uint32_t{0};  // Of work that is no launch of an op.

  // Gives the next work a ticket. `inputs` are the tickets of what it reads. `owner` stands for the
  // scope. If it fails, its error names the op of `site`.
  uint64_t announce(uint64_t owner, std::span<const uint64_t> inputs, HeldMemory held = {},
                    IfFailed if_failed = IfFailed::kThrow, uint32_t site = kNoSite);

  // Calls `done` when all that was enqueued so far has finished, on a thread of the plugin's.
  void notify(std::function<void()> done);

  // A place in the stream whose time the device's clock will tell; none where it has no clock.
  std::optional<uint64_t> mark_time();

  // ---- waiting: without the lock ----
  bool can_wait() const;
  // Blocks until all that was enqueued so far has finished. What failed is then known.
  void wait();
  // The same, and until every `notify` was answered in full.
  void drain() noexcept;
  // Blocks while more is on its way than a device needs to stay busy.
  void throttle();
  uint64_t held_bytes() const;

  // What the clock read, once the mark was passed; nothing if that failed. Not from within `done`.
  std::optional<uint64_t> read_time(uint64_t mark);

  // Calls `end` when all that was enqueued so far has finished, from a later call or from the end
  // of the queue.
  void retire(std::function<void()> end) noexcept;

  // ---- outcomes ----
  // Throws the error of the first of these tickets that failed.
  void require_sound(std::span<const uint64_t> tickets);
  // What the plugin says of a launch that was enqueued. Any thread.
  [[gnu::cold]] void fail(uint64_t ticket, ErrorInfo error);
  // An error that any of the work under way may be the reason of, with the op or the ops of that.
  [[gnu::cold]] Failure explain(const ErrorInfo& error) const;
  // Why the work of this ticket failed, which is told with that; NULL if it did not.
  Failure take_failure_of(uint64_t ticket);
  // The first failure of an owner's work that was not told before; NULL if there is none.
  Failure take_failure(uint64_t owner);

  // ---- error records ----
  // A record's place in the device's memory. What it holds is whatever the last owner left.
  struct Record {
    tenon_buffer_p* buffer = nullptr;
    uint64_t offset = 0;
    tenon_error_record* data = nullptr;  // Where the host sees it; NULL where it does not.
  };
  [[gnu::cold]] Record take_record();
  void give_back(const Record& record);

  // Where launches come from.
  struct Site {
    std::string op;
    std::string rule;  // Of an index that is out of range.
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
  void mark_told(const Failure& why);
  Failure find_failure(std::span<const uint64_t> tickets) const;
  void end_retired();

  Device& device_;
  tenon_stream_p* stream_ = nullptr;
  std::mutex mutex_;
  uint64_t since_notify_ = 0;
  bool has_clock_ = true;  // As long as the device has not said otherwise.

  mutable std::mutex state_mutex_;  // Of all below; taken last, and never held across a call.
  std::condition_variable changed_;
  uint64_t last_ = 0;
  size_t unanswered_ = 0;  // Calls of notify.
  uint64_t held_bytes_ = 0;
  std::deque<Flight> flights_;  // Announced and not known to have finished.
  std::deque<Flight> kept_;     // Ended, though perhaps with a wait that failed.
  std::deque<Retired> retired_;
  std::map<uint64_t, Failed> failed_;  // One for each ticket that ever failed.
  std::vector<tenon_buffer_p*> record_blocks_;
  std::vector<Record> free_records_;
  std::vector<Site> sites_;
  std::map<std::string, uint32_t, std::less<>> site_numbers_;
};

}  // namespace tenon
