#include "core/dispatch/pending_work.h"

#include <cstring>

#include "core/base/error.h"

namespace tenon {
namespace {

// A write of at most kMaxStagedCopy bytes copies the host memory to a staging buffer and does not
// block, as long as all staging buffers together have at most kMaxStagedTotal bytes.
constexpr uint64_t kMaxStagedCopy = uint64_t{1} << 20;
constexpr uint64_t kMaxStagedTotal = uint64_t{16} << 20;

}  // namespace

// The state of a wait or a read: the ticket of the enqueued copy, and the host's copy of the error
// record.
struct PendingWork::Check {
  WorkQueue& queue;
  Device& device;
  uint64_t owner;
  uint64_t read_ticket = 0;  // Ticket of the copy of a value; 0 for a wait for all work.
  tenon_error_record record = {};

  std::shared_ptr<const ErrorInfo> failure() {
    return read_ticket ? queue.take_failure_of(read_ticket) : queue.take_failure(owner);
  }
  std::shared_ptr<const ErrorInfo> value_error() {
    if (record.state == 0) return nullptr;
    const WorkQueue::Site site = queue.site(record.site);
    Error error = tenon::value_error(device, record, site.rule);
    error.set_op(site.op);
    error.set_location(site.location);
    return std::make_shared<ErrorInfo>(error.info());
  }
  std::shared_ptr<const ErrorInfo> outcome() {
    std::shared_ptr<const ErrorInfo> found = failure();
    return found ? found : value_error();
  }
};

PendingWork::PendingWork(Device& device, StreamId stream, uint64_t owner)
    : device_(device),
      queue_(device.queue()),
      stream_(stream),
      owner_(owner),
      record_(queue_.acquire_record(stream)) {
  std::lock_guard turn(queue_.mutex());
  queue_.assign_ticket(stream_, owner_, {});
  clear_record();
}

template <class Work, class Enqueue>
uint64_t PendingWork::enqueue(Work& work, uint32_t site, const Reads& reads,
                              std::shared_ptr<LaunchWatch> watch, const Enqueue& enqueue) {
  set_record(work);
  if (reads.may_report) may_have_written_record_ = true;
  queue_.throttle(stream_);
  std::lock_guard turn(queue_.mutex());
  device_.check_usable();
  work.work = &queue_;
  work.ticket = queue_.assign_ticket(stream_, owner_, reads.tickets, {}, reads.if_failed, site);
  if (watch) [[unlikely]]
    watch->begin = queue_.mark_time(stream_);
  device_.check(enqueue());
  if (watch) [[unlikely]] {
    watch->end = queue_.mark_time(stream_);
    queue_.notify(stream_, [watch = std::move(watch)] { watch->finish(); });
  }
  return work.ticket;
}

uint64_t PendingWork::launch(const PreparedKernel& kernel, tenon_launch& launch, const Reads& reads,
                             std::shared_ptr<LaunchWatch> watch) {
  return enqueue(launch, launch.site, reads, std::move(watch), [&] {
    return device_.calls().launch(kernel.handle(), queue_.handle(stream_), &launch);
  });
}

uint64_t PendingWork::replay(tenon_recording_p* recording, StreamUse& use, tenon_replay& replay,
                             const Reads& reads) {
  return enqueue(replay, WorkQueue::kNoSite, reads, {}, [&] {
    queue_.order_after(stream_, use);
    use = {replay.ticket, uint32_t{1} << stream_, stream_};
    return device_.calls().replay(recording, queue_.handle(stream_), &replay);
  });
}

uint32_t PendingWork::site_of(const OpDef& op, const std::string& location) {
  return queue_.site_of(op.name, op.index_rule, location);
}

void PendingWork::write(tenon_buffer_p* buffer, uint64_t offset, std::span<const std::byte> bytes) {
  std::lock_guard turn(queue_.mutex());
  device_.check_usable();
  queue_.assign_ticket(stream_, owner_, {});
  device_.write(queue_.handle(stream_), buffer, offset, bytes);
}

void PendingWork::write(Storage& to, const void* data, uint64_t bytes,
                        std::function<void()> finished) {
  if (bytes == 0) return;
  const bool held = bytes <= kMaxStagedCopy && queue_.held_bytes() + bytes <= kMaxStagedTotal;
  HeldMemory copy;
  if (held) {
    copy = {std::shared_ptr<std::byte[]>(new std::byte[bytes]), bytes};
    std::memcpy(copy.memory.get(), data, bytes);
    data = copy.memory.get();
  }
  {
    const Storage* const writes[] = {&to};
    const WorkQueue::MemoryUse use = this->use({}, writes);
    std::lock_guard turn(queue_.mutex());
    device_.check_usable();
    to.written = queue_.assign_ticket(stream_, owner_, {}, std::move(copy));
    device_.copy(queue_.handle(stream_), {nullptr, const_cast<void*>(data), 0, 0},
                 {to.buffer, nullptr, 0, 0}, bytes);
    if (finished) queue_.notify(stream_, std::move(finished));
  }
  if (!held) queue_.wait(stream_);
}

void PendingWork::copy_from_peer(Storage& to, const Storage& from, uint64_t offset,
                                 uint64_t bytes) {
  if (bytes == 0) return;
  {
    const Storage* const writes[] = {&to};
    const WorkQueue::MemoryUse use = this->use({}, writes);
    std::lock_guard turn(queue_.mutex());
    device_.check_usable();
    to.written = queue_.assign_ticket(stream_, owner_, {});
    device_.copy(queue_.handle(stream_), {from.buffer, nullptr, offset, 0},
                 {to.buffer, nullptr, 0, 0}, bytes);
  }
  // Until the copy has finished, the caller must keep the source.
  queue_.wait(stream_);
}

// Enqueues the read, if any, and then the copy of the error record. If this function throws, the
// device no longer writes to `data`.
std::shared_ptr<PendingWork::Check> PendingWork::enqueue_check(const Storage* from, uint64_t offset,
                                                               void* data, uint64_t bytes) {
  try {
    const Storage* const reads[] = {from};
    const WorkQueue::MemoryUse use = this->use(reads, {});
    std::lock_guard turn(queue_.mutex());
    return try_enqueue_check(from, offset, data, bytes);
  } catch (...) {
    if (bytes > 0 && queue_.can_wait()) queue_.wait(stream_);
    throw;
  }
}

// Like enqueue_check(), but if this throws, the device may still write to `data`.
std::shared_ptr<PendingWork::Check> PendingWork::try_enqueue_check(const Storage* from,
                                                                   uint64_t offset, void* data,
                                                                   uint64_t bytes) {
  device_.check_usable();
  auto check = std::make_shared<Check>(Check{queue_, device_, owner_});
  const uint64_t written = from ? from->written : 0;
  const uint64_t ticket = queue_.assign_ticket(stream_, owner_, {&written, 1}, {check, 0});
  if (from) {
    check->read_ticket = ticket;
    device_.copy(queue_.handle(stream_), {from->buffer, nullptr, offset, 0}, {nullptr, data, 0, 0},
                 bytes);
  }
  if (may_have_written_record_) {
    device_.copy(queue_.handle(stream_), {record_.buffer, nullptr, record_.offset, 0},
                 {nullptr, &check->record, 0, 0}, sizeof check->record);
    clear_record();
  }
  return check;
}

void PendingWork::clear_record() {
  const tenon_fill_region clear = {.buffer = record_.buffer,
                                   .offset = record_.offset,
                                   .size = sizeof(tenon_error_record),
                                   .pattern = 0,
                                   .pattern_size = 4,
                                   .reserved = 0};
  device_.check(device_.calls().fill(queue_.handle(stream_), &clear));
  may_have_written_record_ = false;
}

// Waits for a check. Throws its failure, or returns its value error; NULL if there is none.
std::shared_ptr<const ErrorInfo> PendingWork::wait_for_check(const std::shared_ptr<Check>& check) {
  queue_.wait(stream_);
  if (const auto failure = check->failure()) throw Error(*failure);
  return check->value_error();
}

// Calls `done` with the outcome of a check when it has finished.
void PendingWork::notify_of_outcome(std::shared_ptr<Check> check, Done done) {
  std::lock_guard turn(queue_.mutex());
  queue_.notify(stream_, [check = std::move(check), done = std::move(done)] {
    done(check->outcome().get());
  });
}

std::shared_ptr<const ErrorInfo> PendingWork::read(const Storage& from, uint64_t offset, void* data,
                                                   uint64_t bytes) {
  return wait_for_check(enqueue_check(&from, offset, data, bytes));
}

void PendingWork::read(const Storage& from, uint64_t offset, void* data, uint64_t bytes,
                       Done done) {
  notify_of_outcome(enqueue_check(&from, offset, data, bytes), std::move(done));
}

void PendingWork::wait() {
  if (const auto wrong = wait_for_check(enqueue_check(nullptr, 0, nullptr, 0))) throw Error(*wrong);
}

void PendingWork::wait(Done done) {
  notify_of_outcome(enqueue_check(nullptr, 0, nullptr, 0), std::move(done));
}

// Converts an error record to an error. `rule` is the label of the op's rule for indices.
Error value_error(const Device& device, const tenon_error_record& record, std::string_view rule) {
  const bool negative = record.index < 0;
  Error error(Code::kOutOfRange, format("{}: index {} is outside [{}, {})",
                                        {rule, record.index, negative ? -record.bound : 0,
                                         negative ? 0 : record.bound}));
  error.set_device(device.name());
  return error;
}

}  // namespace tenon
