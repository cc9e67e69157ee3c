// Checks events: they order streams and have no other effect.

#include <atomic>
#include <memory>

#include "conformance/device/device_check.h"

namespace tenon_kit::device {
namespace {

constexpr uint64_t kSize = 1 << 18;

// Two streams and their buffers. In the checks, the first stream does much work and then writes;
// the second stream waits for an event of the first and reads.
struct Pair {
  explicit Pair(const Bench& bench)
      : first(bench), second(bench), data(bench, kSize), work(bench, kSize), copy(bench, kSize) {}
  const Stream first, second;
  const Buffer data, work, copy;

  void make_busy() const {
    for (int i = 0; i < 20; ++i) first.fill(work, static_cast<unsigned char>(i));
  }
};

// Checks that the second stream has copied `byte`, with which the first stream filled `data`.
void expect_read(const Pair& pair, unsigned char byte, const char* how) {
  const Bytes seen = pair.second.read_now(pair.copy, 0, kSize);
  pair.first.finish();
  expect_bytes(seen, Bytes(kSize, byte), how);
}

// Checks that work after an event reads the data that were written before it.
void test_event_order(const Subject& subject) {
  const Bench bench(subject);
  const Pair pair(bench);
  for (unsigned char i = 1; i <= (subject.thorough ? 30 : 8); ++i) {
    // Tests both directions, because a device may prefer one stream.
    const Stream& a = i % 2 ? pair.first : pair.second;
    const Stream& b = i % 2 ? pair.second : pair.first;
    for (int k = 0; k < 20; ++k) a.fill(pair.work, i);
    a.fill(pair.data, i);
    const Event event = a.record();
    b.wait_for(event);
    b.copy(pair.data, 0, pair.copy, 0, kSize);
    expect_bytes(b.read_now(pair.copy, 0, kSize), Bytes(kSize, i),
                 "data that a stream reads after waiting for another stream's event");
    a.finish();
  }
}

// Checks that several streams may wait for an event, and may do so several times.
void test_repeated_waits(const Subject& subject) {
  const Bench bench(subject);
  const Pair pair(bench);
  pair.make_busy();
  pair.first.fill(pair.data, 1);
  const Event early = pair.first.record();
  const Event again = pair.first.record();
  pair.second.wait_for(early);
  pair.second.wait_for(again);
  pair.second.wait_for(early);  // A stream may wait for an event several times,
  pair.first.wait_for(early);   // also a stream that recorded the event itself.
  pair.second.copy(pair.data, 0, pair.copy, 0, kSize);
  expect_read(pair, 1, "data read after two events, one of which was waited for twice");
  pair.second.wait_for(early);  // The event completed long before this wait.
  pair.second.fill(pair.copy, 9);
  pair.second.finish();
  // Several streams wait for the same event.
  pair.make_busy();
  pair.first.fill(pair.data, 2);
  const Event event = pair.first.record();
  std::vector<Bytes> seen(8, Bytes(kSize, 0xee));
  std::vector<Stream> streams;
  for (Bytes& bytes : seen) {
    streams.emplace_back(bench);
    streams.back().wait_for(event);
    streams.back().read(pair.data, 0, bytes);
  }
  for (size_t i = 0; i < streams.size(); ++i) {
    streams[i].finish();
    expect_bytes(seen[i], Bytes(kSize, 2), "data that one of eight streams reads after an event");
  }
  pair.first.finish();
}

// Checks that an event covers only work enqueued before it was recorded. Later work need not be
// complete.
void test_moment(const Subject& subject) {
  const Bench bench(subject);
  const Pair pair(bench);
  const Event nothing = pair.first.record();  // The stream is idle.
  pair.second.wait_for(nothing);
  pair.second.fill(pair.copy, 3);
  pair.second.finish();
  // Two streams wait for each other without a deadlock: each waits for an event that the other
  // recorded earlier.
  pair.make_busy();
  pair.first.fill(pair.data, 4);
  const Event one = pair.first.record();
  pair.second.wait_for(one);
  pair.second.copy(pair.data, 0, pair.copy, 0, kSize);
  const Event two = pair.second.record();
  pair.first.wait_for(two);
  pair.first.fill(pair.data, 5);
  expect_read(pair, 4, "data read after an event while the first stream continues");
}

// Checks that an event may be released before it completes.
void test_early_release(const Subject& subject) {
  const Bench bench(subject);
  const Pair pair(bench);
  for (unsigned char i = 1; i <= 5; ++i) {
    pair.make_busy();
    pair.first.fill(pair.data, i);
    {
      const Event unused = pair.first.record();  // The event is released before any wait.
      const Event event = pair.first.record();
      pair.second.wait_for(event);
    }  // The event is released while the wait is pending.
    pair.second.copy(pair.data, 0, pair.copy, 0, kSize);
    expect_read(pair, i, "data read after an event that was released early");
  }
  // The event outlives its stream.
  std::unique_ptr<Event> event;
  {
    const Stream stream(bench);
    stream.fill(pair.data, 7);
    event = std::make_unique<Event>(stream.record());
  }
  pair.second.wait_for(*event);
  pair.second.copy(pair.data, 0, pair.copy, 0, kSize);
  expect_read(pair, 7, "data read after an event of a closed stream");
}

// Checks that `wait_event` does not block the caller. Only rounds in which the first stream is
// still busy before the call count. Fails if the call blocks in all of these.
void test_blocking(const Subject& subject) {
  const Bench bench(subject);
  if (bench.has(TENON_FEATURE_SYNCHRONOUS))
    throw Unsupported("the device is SYNCHRONOUS, so wait_event has nothing to wait for");
  const Pair pair(bench);
  int busy = 0, blocked = 0;
  for (int i = 0; i < 5; ++i) {
    std::atomic<bool> passed{false};
    for (int k = 0; k < 10; ++k) pair.make_busy();
    const tenon_done_callback done = {
        .function = [](void* payload,
                       const tenon_error*) { *static_cast<std::atomic<bool>*>(payload) = true; },
        .payload = &passed,
        .destroy = nullptr,
    };
    expect_success(bench.calls().notify(pair.first.get(), done), "notify");
    const Event event = pair.first.record();
    if (!passed) {
      ++busy;
      pair.second.wait_for(event);
      blocked += passed;
    }
    pair.first.finish();
    pair.second.finish();
  }
  if (busy == 0) throw Unsupported("the device's work finishes before the test can wait for it");
  require(busy < 3 || blocked < busy,
          "in {} of {} trials, wait_event blocked its caller until the other stream had finished",
          blocked, busy);
}

}  // namespace

std::vector<DeviceCheck> event_checks() {
  return {
      {"events", "event_order", 1,
       "Work after an event reads data that was written before the event.", test_event_order},
      {"events", "event_twice", 1,
       "Events can be waited for repeatedly, by many streams, and recorded again.",
       test_repeated_waits},
      {"events", "event_moment", 1, "An event refers to the moment at which it was recorded.",
       test_moment},
      {"events", "event_released", 1, "Events may be released before they complete.",
       test_early_release},
      {"events", "event_blocking", 1, "Waiting for an event does not block the caller.",
       test_blocking},
  };
}

}  // namespace tenon_kit::device
