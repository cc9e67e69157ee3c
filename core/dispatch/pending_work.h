// What a scope has on its way on an asynchronous device, and what it learns when that is done.
//
// The scope has one error record there, in the device's memory, which its launches share. It is
// copied to the host and cleared in the order of the stream, whenever somebody waits.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "core/device/device.h"
#include "core/dispatch/interpreter.h"
#include "core/ops/op.h"

namespace tenon {

// Wants to know when a launch ran.
class LaunchWatch {
 public:
  virtual ~LaunchWatch() = default;
  // It has finished. On any thread, which may be a plugin's.
  virtual void finish() = 0;

  // Marks before and behind it, where the device has a clock.
  std::optional<uint64_t> begin, end;
};

class PendingWork {
 public:
  // What came of it: NULL or an error.
  using Done = std::function<void(const ErrorInfo*)>;

  PendingWork(Device& device, uint64_t owner);
  ~PendingWork() { queue_.give_back(record_); }
  PendingWork(const PendingWork&) = delete;

  Device& device() const { return device_; }

  // What is to be known of work besides what the plugin is handed.
  struct Reads {
    std::span<const uint64_t> tickets;  // Of what wrote what it reads; 0 for nobody.
    bool may_report = false;            // It may write into the error record.
    WorkQueue::IfFailed if_failed = WorkQueue::IfFailed::kThrow;
  };
  // Enqueue a launch, whose `site` is that of site_of, or a replay, and give its ticket.
  uint64_t launch(const PreparedKernel& kernel, tenon_launch& launch, const Reads& reads,
                  std::shared_ptr<LaunchWatch> watch = {});
  uint64_t replay(tenon_recording_p* recording, tenon_replay& replay, const Reads& reads);
  uint32_t site_of(const OpDef& op, const std::string& location);
  // Throws why work failed that one of these tickets is of.
  void require_sound(std::span<const uint64_t> tickets) { queue_.require_sound(tickets); }
  // Enqueues to write a few bytes.
  void write(tenon_buffer_p* buffer, uint64_t offset, std::span<const std::byte> bytes);
  // Where a launch or a replay is to record errors.
  template <class Work>
  void set_record(Work& work) const {
    work.record_buffer = record_.buffer;
    work.record_offset = record_.offset;
    work.record = record_.data;
  }

  // Writes host memory, which is free when this returns.
  void write(Storage& to, const void* data, uint64_t bytes, std::function<void()> finished);

  // Reads into host memory and waits. Throws why the value was never computed. Gives, once, what
  // the scope's launches found wrong with a value; NULL if nothing is.
  std::shared_ptr<const ErrorInfo> read(const Storage& from, uint64_t offset, void* data,
                                        uint64_t bytes);
  // The same without waiting: `data` stays valid until `done` was called, on any thread.
  void read(const Storage& from, uint64_t offset, void* data, uint64_t bytes, Done done);

  // Waits for all of the scope's work. Throws its first error that nobody was told of.
  void wait();
  void wait(Done done);

 private:
  struct Check;

  template <class Work, class Enqueue>
  uint64_t enqueue(Work& work, uint32_t site, const Reads& reads,
                   std::shared_ptr<LaunchWatch> watch, const Enqueue& enqueue);
  std::shared_ptr<Check> enqueue_check(const Storage* from, uint64_t offset, void* data,
                                       uint64_t bytes);
  std::shared_ptr<Check> try_enqueue_check(const Storage* from, uint64_t offset, void* data,
                                           uint64_t bytes);
  void clear_record();
  std::shared_ptr<const ErrorInfo> block(const std::shared_ptr<Check>& check);
  void call_back(std::shared_ptr<Check> check, Done done);

  Device& device_;
  WorkQueue& queue_;
  uint64_t owner_;
  const WorkQueue::Record record_;
  bool may_have_written_record_ = false;
};

// Whether a kernel of the op may write into the error record.
inline bool may_report(const OpDef& op) { return *op.index_rule != '\0' || op.id >> 31 != 0; }

// What a record says went wrong, where `rule` is the op's.
Error value_error(const Device& device, const tenon_error_record& record, std::string_view rule);

}  // namespace tenon
