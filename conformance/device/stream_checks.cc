// Checks streams: order within a stream, completion, and its notification.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "conformance/device/device_check.h"
#include "conformance/kit/threads.h"

namespace tenon_kit::device {
namespace {

// Checks the order in a stream: each step overwrites memory that the previous step reads.
void test_stream_order(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  const uint32_t steps = subject.thorough ? 100 : 30;
  constexpr uint64_t kSize = 3000;
  const Buffer a(bench, kSize);
  std::vector<Buffer> kept;
  for (uint32_t i = 0; i < steps; ++i) kept.emplace_back(bench, kSize);
  for (uint32_t i = 0; i < steps; ++i) {
    stream.fill(a, static_cast<unsigned char>(i + 1));
    stream.copy(a, 0, kept[i], 0, kSize);
  }
  for (uint32_t i = 0; i < steps; ++i) {
    expect_bytes(
        stream.read_now(kept[i], 0, kSize), Bytes(kSize, static_cast<unsigned char>(i + 1)),
        fmt::format("data read by the copy after fill {} of {} in one stream", i + 1, steps));
  }
}

// Checks that a copy reads host memory in stream order, and writes it before completion is
// reported.
void test_completion(const Subject& subject) {
  const Bench bench(subject);
  const uint64_t size = subject.thorough ? 1 << 20 : 1 << 16;
  Bytes bytes, back(size);  // Declared before the stream, which may still use them.
  const Stream stream(bench);
  const Buffer a(bench, size), b(bench, size);
  for (uint32_t i = 0; i < 20; ++i) {
    bytes = pseudorandom_bytes(size, i);
    std::fill(back.begin(), back.end(), 0xee);
    stream.write(a, 0, bytes);
    stream.copy(a, 0, b, 0, size);
    stream.read(b, 0, back);
    struct Seen {
      const Bytes& want;
      const Bytes& back;
      std::mutex mutex;
      std::condition_variable changed;
      int calls = 0, wrong = 0, destroyed = 0;
    } seen = {bytes, back, {}, {}};
    const tenon_done_callback done = {
        .function =
            [](void* payload, const tenon_error* error) {
              Seen& self = *static_cast<Seen*>(payload);
              std::lock_guard lock(self.mutex);
              ++self.calls;
              self.wrong += error != nullptr || self.back != self.want;
            },
        .payload = &seen,
        .destroy =
            [](void* payload) {
              Seen& self = *static_cast<Seen*>(payload);
              std::lock_guard lock(self.mutex);
              ++self.destroyed;
              self.changed.notify_all();
            },
    };
    expect_success(bench.calls().notify(stream.get(), done), "notify");
    {
      std::unique_lock lock(seen.mutex);
      seen.changed.wait_for(lock, std::chrono::seconds(30), [&] { return seen.destroyed > 0; });
    }
    // If the plugin notified twice, the second notification would have arrived by now.
    stream.finish();
    std::lock_guard lock(seen.mutex);
    require(seen.calls == 1, "notify called back {} times", seen.calls);
    require(seen.destroyed == 1, "notify destroyed its callback {} times", seen.destroyed);
    require(seen.wrong == 0, "notify called back before the work finished, or with an error");
  }
}

// Checks that every call of `notify` runs its callback once, on any stream.
void test_notify(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  stream.finish();  // The stream has no work.
  const Buffer buffer(bench, 100);
  constexpr int kQueries = 100;
  struct Count {
    std::mutex mutex;
    std::condition_variable changed;
    int calls[kQueries] = {};
    int n = 0;
  } count;
  struct QueryState {
    Count* count;
    int i;
  } asked[kQueries];
  for (int i = 0; i < kQueries; ++i) {
    asked[i] = {&count, i};
    if (i % 3 == 0) stream.fill(buffer, 1);
    const tenon_done_callback done = {
        .function =
            [](void* payload, const tenon_error*) {
              const QueryState& self = *static_cast<QueryState*>(payload);
              std::lock_guard lock(self.count->mutex);
              ++self.count->calls[self.i];
              ++self.count->n;
              self.count->changed.notify_all();
            },
        .payload = &asked[i],
        .destroy = nullptr,
    };
    expect_success(bench.calls().notify(stream.get(), done), "notify");
  }
  std::unique_lock lock(count.mutex);
  count.changed.wait_for(lock, std::chrono::seconds(30), [&] { return count.n >= kQueries; });
  lock.unlock();
  stream.finish();
  lock.lock();
  for (int i = 0; i < kQueries; ++i) {
    require(count.calls[i] == 1, "of {} notify calls, number {} called back {} times", kQueries, i,
            count.calls[i]);
  }
}

// Checks that the host reads finished data after `wait`, which several threads may call.
void test_wait(const Subject& subject) {
  const Bench bench(subject);
  bench.require_feature(TENON_FEATURE_HOST_BLOCKING, "HOST_BLOCKING");
  const uint64_t size = subject.thorough ? 1 << 20 : 1 << 16;
  Bytes bytes, back(size);  // Declared before the stream, which may still use them.
  const Stream stream(bench);
  expect_success(bench.calls().wait(stream.get()), "wait on an idle stream");
  const Buffer a(bench, size), b(bench, size);
  for (uint32_t i = 0; i < 20; ++i) {
    bytes = pseudorandom_bytes(size, i);
    std::fill(back.begin(), back.end(), 0xee);
    stream.write(a, 0, bytes);
    stream.copy(a, 0, b, 0, size);
    stream.read(b, 0, back);
    expect_success(bench.calls().wait(stream.get()), "wait");
    expect_bytes(back, bytes, "data that the host reads after `wait`");
  }
  // Meanwhile other threads may use the stream and call `wait`.
  if (!kHasThreads) return;
  std::atomic<bool> ending{false};
  std::atomic<int> failures{0};
  std::vector<Thread> waiters;
  for (int i = 0; i < 2; ++i) {
    waiters.emplace_back([&] {
      while (!ending) {
        if (tenon_error* error = bench.calls().wait(stream.get())) {
          take_failure(error);
          ++failures;
        }
      }
    });
  }
  std::string fault;
  try {
    for (uint32_t i = 0; i < 100; ++i) {
      bytes = pseudorandom_bytes(1000, i);
      stream.write(a, 0, bytes);
      expect_bytes(stream.read_now(a, 0, 1000), bytes,
                   "data read while other threads wait for the stream");
    }
  } catch (const std::exception& error) {
    fault = error.what();
  }
  ending = true;
  for (Thread& waiter : waiters) waiter.join();
  require(fault.empty(), "{}", fault);
  require(failures == 0, "`wait` failed {} times although no work failed", failures.load());
}

// Checks that on a SYNCHRONOUS device, work has finished when its call returns.
void test_synchronous(const Subject& subject) {
  const Bench bench(subject);
  bench.require_feature(TENON_FEATURE_SYNCHRONOUS, "SYNCHRONOUS");
  const Stream stream(bench);
  constexpr uint64_t kSize = 1 << 18;
  const Buffer buffer(bench, kSize);
  for (uint32_t i = 0; i < 20; ++i) {
    Bytes bytes = pseudorandom_bytes(kSize, i), back(kSize, 0xee);
    const Bytes want = bytes;
    stream.write(buffer, 0, bytes);
    std::fill(bytes.begin(), bytes.end(), 0);
    stream.read(buffer, 0, back);
    const Bytes seen = back;  // Copied from `back` before any wait.
    stream.finish();
    expect_bytes(seen, want,
                 "the device claims SYNCHRONOUS: data at the time when a copy call returned");
  }
}

// Checks that many streams can be open at the same time.
void test_many_streams(const Subject& subject) {
  const Bench bench(subject);
  constexpr uint64_t kSize = 2000;
  std::vector<Stream> streams;
  std::vector<Buffer> buffers;
  std::vector<Bytes> bytes, back(64, Bytes(kSize, 0xee));
  for (uint32_t i = 0; i < 64; ++i) {
    streams.emplace_back(bench);
    buffers.emplace_back(bench, kSize);
    bytes.push_back(pseudorandom_bytes(kSize, i));
  }
  for (uint32_t i = 0; i < 64; ++i) streams[i].fill(buffers[i], 0);
  for (uint32_t i = 0; i < 64; ++i) streams[i].write(buffers[i], 0, bytes[i]);
  for (uint32_t i = 64; i-- > 0;) streams[i].read(buffers[i], 0, back[i]);
  for (uint32_t i = 0; i < 64; ++i) {
    streams[i].finish();
    expect_bytes(back[i], bytes[i], fmt::format("stream {} of 64", i));
  }
  streams.clear();
  const Stream later(bench);
  later.write_now(buffers[0], 0, bytes[1]);
  expect_bytes(later.read_now(buffers[0], 0, kSize), bytes[1],
               "data read back by a stream that was opened after 64 were closed");
}

// Checks streams of several threads, one stream per thread.
void test_threads(const Subject& subject) {
  const Bench bench(subject);
  std::mutex mutex;
  std::string fault;
  std::vector<Thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      try {
        const Stream stream(bench);
        for (uint32_t i = 0; i < (subject.thorough ? 100u : 20u); ++i) {
          const Buffer buffer(bench, 1000 + i);
          const Bytes bytes = pseudorandom_bytes(1000 + i, t * 1000 + i);
          stream.write_now(buffer, 0, bytes);
          expect_bytes(stream.read_now(buffer, 0, bytes.size()), bytes,
                       "data that the thread wrote and read back");
        }
      } catch (const std::exception& error) {
        std::lock_guard lock(mutex);
        fault = error.what();
      }
    });
  }
  for (Thread& thread : threads) thread.join();
  require(fault.empty(), "on four threads: {}", fault);
}

// Checks that the plugin reads the struct that describes a copy or fill only during the call.
void test_regions(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  const Buffer a(bench, 1000), other(bench, 1000);
  stream.fill(other, 0x11);
  const Bytes bytes = pseudorandom_bytes(1000, 1);
  for (int i = 0; i < 10; ++i) {
    Bytes back(1000, 0xee);
    tenon_copy_region region = {host_place(bytes.data()), place_in(a), 1000, 0};
    expect_success(bench.calls().copy(stream.get(), &region), "copy");
    region = {place_in(a), host_place(back.data()), 1000, 0};
    expect_success(bench.calls().copy(stream.get(), &region), "copy");
    region = {place_in(other), place_in(other), 0, 0};
    stream.finish();
    expect_bytes(back, bytes, "the target of a copy whose region was changed after the call");
  }
}

}  // namespace

std::vector<DeviceCheck> stream_checks() {
  return {
      {"streams", "stream_order", 1, "A stream runs its work in order.", test_stream_order},
      {"streams", "completion", 1,
       "`notify` calls back once, when the work is finished and its results are visible.",
       test_completion},
      {"streams", "notify", 1, "Every `notify` call gets its callback, on any stream.",
       test_notify},
      {"streams", "wait", 1, "After `wait` the host sees everything; threads may wait meanwhile.",
       test_wait},
      {"streams", "synchronous", 1,
       "If it claims SYNCHRONOUS, calls return after their work has finished.", test_synchronous},
      {"streams", "many_streams", 1, "Many streams are open at once, and are closed.",
       test_many_streams},
      {"streams", "stream_threads", 1, "Threads use streams of their own at once.", test_threads},
      {"streams", "regions", 1, "A copy's description is read only during the call.", test_regions},
  };
}

}  // namespace tenon_kit::device
