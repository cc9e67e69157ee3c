// The unfinished work of a scope on one stream of an asynchronous device, and the errors of this
// work.
//
// The scope has one error record for each stream in the device's memory, shared by its launches.
// Each wait copies the record to the host and clears it, in stream order.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "core/device/device.h"
#include "core/dispatch/interpreter.h"
#include "core/ops/definition/op.h"

namespace tenon {

// Receives a notification when a launch finishes.
class LaunchWatch {
 public:
  virtual ~LaunchWatch() = default;
  // Called when the launch has finished, on any thread, possibly one of the plugin's.
  virtual void finish() = 0;

  // Time marks before and after the launch, if the device has a clock.
  std::optional<uint64_t> begin, end;
};

class PendingWork {
 public:
  // Receives the outcome: NULL or an error.
  using Done = std::function<void(const ErrorInfo*)>;

  PendingWork(Device& device, StreamId stream, uint64_t owner);
  ~PendingWork() { queue_.release_record(record_); }
  PendingWork(const PendingWork&) = delete;

  Device& device() const { return device_; }
  StreamId stream() const { return stream_; }

  // Properties of the work that the host tracks and does not pass to the plugin.
  struct Reads {
    std::span<const uint64_t> tickets;  // Tickets of the work that wrote the inputs; 0 for none.
    bool may_report = false;            // Whether the work may write to the error record.
    WorkQueue::OnFailedInput if_failed = WorkQueue::OnFailedInput::kThrow;
  };
  // launch() and replay() enqueue work and return its ticket. site_of() returns the value for
  // launch.site, by which error reports find the op and its source line.
  uint64_t launch(const PreparedKernel& kernel, tenon_launch& launch, const Reads& reads,
                  std::shared_ptr<LaunchWatch> watch = {});
  // `use`: the uses of the recording. Its replays run one after the other on all streams.
  uint64_t replay(tenon_recording_p* recording, StreamUse& use, tenon_replay& replay,
                  const Reads& reads);
  uint32_t site_of(const OpDef& op, const std::string& location);
  // Throws the error of the first of these tickets that failed.
  void throw_first_failure(std::span<const uint64_t> tickets) {
    queue_.throw_first_failure(tickets);
  }
  // Orders work of the caller after earlier uses of this memory on other streams.
  WorkQueue::MemoryUse use(WorkQueue::MemoryUse::Storages reads,
                           WorkQueue::MemoryUse::Storages writes) {
    return WorkQueue::MemoryUse(queue_, stream_, reads, writes);
  }
  // Enqueues a write of a few bytes.
  void write(tenon_buffer_p* buffer, uint64_t offset, std::span<const std::byte> bytes);
  // Sets the error record of a launch or a replay.
  template <class Work>
  void set_record(Work& work) const {
    work.record_buffer = record_.buffer;
    work.record_offset = record_.offset;
    work.record = record_.data;
  }

  // Copies `bytes` bytes from host memory, which the caller may reuse when this returns.
  void write(Storage& to, const void* data, uint64_t bytes, std::function<void()> finished);

  // Copies `bytes` bytes from another device of the same plugin instance and waits. The work that
  // computes them has finished. If the copy fails, calls that use `to` return its error.
  void copy_from_peer(Storage& to, const Storage& from, uint64_t offset, uint64_t bytes);

  // Reads into host memory and waits. Throws if the work that computes the value failed. Returns a
  // value error of the scope's launches that was not reported before; NULL if there is none.
  std::shared_ptr<const ErrorInfo> read(const Storage& from, uint64_t offset, void* data,
                                        uint64_t bytes);
  // Like the function above, but does not wait: `data` must stay valid until `done` is called, on
  // any thread.
  void read(const Storage& from, uint64_t offset, void* data, uint64_t bytes, Done done);

  // Waits for all of the scope's work. Throws its first error that was not reported before.
  void wait();
  // Does not wait: when all of the scope's work has finished, calls `done` on any thread with its
  // first error that was not reported before, or NULL.
  void wait(Done done);

 private:
  struct Check;

  // Assigns a ticket to `work`, a launch or a replay, calls `enqueue`, and returns the ticket.
  template <class Work, class Enqueue>
  uint64_t enqueue(Work& work, uint32_t site, const Reads& reads,
                   std::shared_ptr<LaunchWatch> watch, const Enqueue& enqueue);
  // Enqueues a read of `bytes` bytes, if `from` is not NULL, and a copy of the error record.
  std::shared_ptr<Check> enqueue_check(const Storage* from, uint64_t offset, void* data,
                                       uint64_t bytes);
  // Like enqueue_check(), but if this throws, the device may still write to `data`.
  std::shared_ptr<Check> try_enqueue_check(const Storage* from, uint64_t offset, void* data,
                                           uint64_t bytes);
  // Enqueues a command that clears the error record.
  void clear_record();
  // Waits for a check. Throws its failure, or returns its value error; NULL if there is none.
  std::shared_ptr<const ErrorInfo> wait_for_check(const std::shared_ptr<Check>& check);
  // Calls `done` with the outcome of a check when it has finished. Does not wait.
  void notify_of_outcome(std::shared_ptr<Check> check, Done done);

  Device& device_;
  WorkQueue& queue_;
  const StreamId stream_;
  uint64_t owner_;
  const WorkQueue::Record record_;
  bool may_have_written_record_ = false;
};

// Whether a kernel of the op may write to the error record.
inline bool may_report(const OpDef& op) { return *op.index_rule != '\0' || op.id >> 31 != 0; }

// Converts an error record to an error. `rule` is the label of the op's rule for indices, such as
// C3.
Error value_error(const Device& device, const tenon_error_record& record, std::string_view rule);

}  // namespace tenon
