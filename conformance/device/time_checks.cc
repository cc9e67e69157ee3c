// Checks the device's clock. Time marks are taken in stream order, in nanoseconds, on one clock for
// all streams, and new marks are always available.

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "conformance/device/device_check.h"

namespace tenon_kit::device {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kSize = 1 << 18;

double ns_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::nano>(to - from).count();
}

uint64_t take_time_mark(const Bench& bench, const Stream& stream) {
  uint64_t made = 0;
  expect_success(bench.calls().mark_time(stream.get(), &made), "mark_time");
  return made;
}

uint64_t read_time_mark(const Bench& bench, const Stream& stream, uint64_t mark) {
  uint64_t ns = 0;
  expect_success(bench.calls().read_time(stream.get(), mark, &ns), "read_time");
  return ns;
}

// Throws Unsupported if the device has no clock.
void require_clock(const Bench& bench) {
  if (!bench.calls().mark_time) throw Unsupported("the device does not support time marks");
  const Stream stream(bench);
  uint64_t made = 0;
  if (tenon_error* error = bench.calls().mark_time(stream.get(), &made)) {
    const Failure failure = take_failure(error);
    require(failure.code == TENON_UNIMPLEMENTED, "mark_time failed: {}", failure.message);
    throw Unsupported("the device has no clock");
  }
  stream.finish();
  read_time_mark(bench, stream, made);
}

// Checks that the time `late` is not before `early`. Both are in nanoseconds.
void expect_later(uint64_t early, uint64_t late, const char* what) {
  require(late >= early, "{} has the time {} ns, which is {} ns before the previous mark", what,
          late, early - late);
}

// Checks that time marks increase in the order of the work, on one clock for all streams.
void test_order_of_times(const Subject& subject) {
  const Bench bench(subject);
  require_clock(bench);
  const Stream first(bench), second(bench);
  const Buffer work(bench, kSize);
  for (unsigned char i = 0; i < 10; ++i) {
    // Tests both directions, because a device may prefer one stream.
    const Stream& a = i % 2 ? first : second;
    const Stream& b = i % 2 ? second : first;
    const uint64_t before = take_time_mark(bench, a);
    for (int k = 0; k < 5; ++k) a.fill(work, i);
    const uint64_t after_work = take_time_mark(bench, a), again = take_time_mark(bench, a);
    const Event event = a.record();
    b.wait_for(event);
    const uint64_t after_event = take_time_mark(bench, b);
    b.fill(work, i);
    const uint64_t last = take_time_mark(bench, b);
    b.finish();
    a.finish();
    const uint64_t ns[] = {read_time_mark(bench, a, before), read_time_mark(bench, a, after_work),
                           read_time_mark(bench, a, again), read_time_mark(bench, b, after_event),
                           read_time_mark(bench, b, last)};
    expect_later(ns[0], ns[1], "a time mark after work");
    expect_later(ns[1], ns[2], "a second time mark directly after the first");
    expect_later(ns[2], ns[3], "a time mark of a stream that waited for an event");
    expect_later(ns[3], ns[4], "a time mark after work on another stream");
  }
}

// Checks the unit of time: the host sleeps for a known interval between two marks.
void test_unit(const Subject& subject) {
  const Bench bench(subject);
  require_clock(bench);
  const Stream stream(bench);
  const auto start = Clock::now();
  const uint64_t early = take_time_mark(bench, stream);
  stream.finish();
  const auto passed = Clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto awake = Clock::now();
  const uint64_t late = take_time_mark(bench, stream);
  stream.finish();
  const double most = ns_between(start, Clock::now());
  const auto ns = static_cast<double>(read_time_mark(bench, stream, late) -
                                      read_time_mark(bench, stream, early));
  const double least = ns_between(passed, awake);
  require(
      ns >= 0.98 * least && ns <= 1.02 * most + 1000,
      "between two time marks, {} ns passed by the device's clock, but {} to {} ns by the host's",
      ns, least, most);
}

// Checks that a mark after work has the time of that work's completion, not of its submission.
// Judged only if the work takes long enough.
void test_work(const Subject& subject) {
  const Bench bench(subject);
  require_clock(bench);
  const Stream stream(bench);
  const Buffer work(bench, kSize);
  int busy = 0, early = 0;
  for (int i = 0; i < 5; ++i) {
    const auto start = Clock::now();
    const uint64_t before = take_time_mark(bench, stream);
    for (int k = 0; k < (subject.thorough ? 500 : 60); ++k) {
      stream.fill(work, static_cast<unsigned char>(k));
    }
    const uint64_t after_work = take_time_mark(bench, stream);
    const auto enqueued = Clock::now();
    stream.finish();
    const uint64_t after = take_time_mark(bench, stream);
    stream.finish();
    const double took = ns_between(enqueued, Clock::now());
    const auto ns = static_cast<double>(read_time_mark(bench, stream, after) -
                                        read_time_mark(bench, stream, after_work));
    read_time_mark(bench, stream, before);
    if (took < 2e6 || took < ns_between(start, enqueued)) continue;
    ++busy;
    early += ns > 0.75 * took;
  }
  require(busy < 3 || early < busy,
          "in {} of {} trials, a time mark is earlier than the end of the work enqueued before it",
          early, busy);
}

// Checks that a stream releases the marks that were never read, here 10 of 100.
void test_forgotten(const Subject& subject) {
  const Bench bench(subject);
  require_clock(bench);
  const uint64_t allocated = bench.statistics().allocated_bytes;
  for (int i = 0; i < (subject.thorough ? 100 : 20); ++i) {
    const Stream stream(bench);
    for (int k = 0; k < 5; ++k) {
      std::vector<uint64_t> marks;
      for (int n = 0; n < 100; ++n) marks.push_back(take_time_mark(bench, stream));
      require(std::set(marks.begin(), marks.end()).size() == marks.size(),
              "of 100 unread marks, two have the same number");
      stream.finish();
      uint64_t later = ~uint64_t{0};
      for (size_t n = marks.size(); n-- > 10;) {
        const uint64_t ns = read_time_mark(bench, stream, marks[n]);
        expect_later(ns, later, "a mark that is read late");
        later = ns;
      }
    }
  }
  const uint64_t more = bench.statistics().allocated_bytes - allocated;
  require(more == 0, "marks that were read, or whose stream was closed, leak {} bytes", more);
}

}  // namespace

std::vector<DeviceCheck> time_checks() {
  return {
      {"time", "time_order", 1, "Marks increase in the order of the work, on one clock.",
       test_order_of_times},
      {"time", "time_unit", 1, "The clock counts nanoseconds.", test_unit},
      {"time", "time_work", 1, "A mark after work becomes readable when the work finishes.",
       test_work},
      {"time", "time_forgotten", 1, "Reading a mark releases it.", test_forgotten},
  };
}

}  // namespace tenon_kit::device
