// The streams of a queue, and the events that order the work of different streams.

#include <algorithm>

#include "core/base/error.h"
#include "core/device/device.h"
#include "core/device/work_queue.h"

namespace tenon {

// Opens another stream. The caller holds mutex_ or constructs the queue.
StreamId WorkQueue::open_stream() {
  const uint32_t n = n_streams_;
  require_code(n < kMaxStreams, Code::kFailedPrecondition,
               "{}: {} streams are open, which is the maximum; release one first", device_.name(),
               n - 1);
  streams_[n].handle = device_.open_stream();
  n_streams_ = n + 1;
  if (n > 0) has_streams_.store(true, std::memory_order_release);
  return static_cast<StreamId>(n);
}

StreamId WorkQueue::acquire_stream() {
  const std::lock_guard turn(mutex_);
  device_.check_usable();
  uint32_t stream = 1;
  while (stream < n_streams_ && streams_[stream].n_users > 0) ++stream;
  if (stream == n_streams_) stream = open_stream();
  // The uses of memory are not tracked before the first stream is opened. They are all on the
  // default stream.
  order_after(static_cast<StreamId>(stream), kDefaultStream, last_ticket(kDefaultStream));
  streams_[stream].n_users = 1;
  return static_cast<StreamId>(stream);
}

void WorkQueue::share_stream(StreamId stream) {
  const std::lock_guard turn(mutex_);
  ++streams_[stream].n_users;
}

void WorkQueue::release_stream(StreamId stream) {
  const std::lock_guard turn(mutex_);
  --streams_[stream].n_users;
}

WorkQueue::EventPoint WorkQueue::record_event(StreamId stream) {
  Stream& at = streams_[stream];
  // The outcome of this work must be known before that of work that follows the event.
  if (at.notified < at.last) notify(stream, {});
  EventPoint event = {nullptr, stream, at.last, at.after};
  device_.check(device_.calls().record_event(at.handle, &event.handle));
  return event;
}

void WorkQueue::release_event(const EventPoint& event) {
  device_.calls().release_event(event.handle);
}

void WorkQueue::order_after(StreamId stream, const EventPoint& event) {
  Stream& later = streams_[stream];
  if (stream == event.stream) return;
  device_.check(device_.calls().wait_event(later.handle, event.handle));
  for (size_t i = 0; i < kMaxStreams; ++i) {
    later.after[i] = std::max(later.after[i], event.after[i]);
  }
  later.after[event.stream] = std::max(later.after[event.stream], event.ticket);
}

void WorkQueue::order_after(StreamId stream, StreamId other, uint64_t ticket) {
  if (stream == other || streams_[stream].after[other] >= ticket) return;
  const EventPoint event = record_event(other);
  try {
    order_after(stream, event);
  } catch (...) {
    release_event(event);
    throw;
  }
  release_event(event);
}

void WorkQueue::order_after(StreamId stream, const StreamUse& use) {
  for (StreamId i = 0; i < n_streams_; ++i) {
    if ((use.streams >> i & 1) != 0) order_after(stream, i, std::min(use.last, last_ticket(i)));
  }
}

void WorkQueue::order_use(StreamId stream, MemoryUse::Storages reads, MemoryUse::Storages writes) {
  const std::lock_guard turn(mutex_);
  for (const Storage* read : reads) {
    if (read) order_after(stream, read->use.writer, read->written);
  }
  for (const Storage* written : writes) {
    if (written) order_after(stream, written->use);
  }
}

void WorkQueue::mark_use(StreamId stream, MemoryUse::Storages reads, MemoryUse::Storages writes) {
  const std::lock_guard turn(mutex_);
  const uint32_t bit = uint32_t{1} << stream;
  for (const Storage* read : reads) {
    if (!read) continue;
    read->use.last = std::max(read->use.last, last_ticket(stream));
    read->use.streams |= bit;
  }
  // All earlier uses precede the write, so later uses need to follow only the write.
  for (const Storage* written : writes) {
    if (written) written->use = {last_ticket(stream), bit, stream};
  }
}

}  // namespace tenon
