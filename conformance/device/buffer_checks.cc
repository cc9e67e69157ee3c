// Checks memory: allocation, alignment, isolation between buffers, and release.

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>

#include "conformance/device/device_check.h"
#include "conformance/device/failing_memory.h"
#include "conformance/kit/threads.h"

// By default, sanitizers abort on huge allocations instead of returning NULL.
#if defined(__SANITIZE_ADDRESS__)
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
#elif defined(__SANITIZE_THREAD__)
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}
#endif

namespace tenon_kit::device {
namespace {

// Returns the sizes of buffers to test, in bytes.
std::vector<uint64_t> tested_sizes(const Bench& bench, bool thorough) {
  std::vector<uint64_t> all = {1,   2,    3,    4,    7,    8,     15,     16,  17,
                               31,  63,   64,   65,   127,  128,   129,    255, 256,
                               257, 1000, 4095, 4096, 4097, 65537, 1 << 20};
  if (thorough) all.insert(all.end(), {(5 << 20) + 3, 32 << 20});
  const tenon_device_properties& p = bench.properties();
  const uint64_t most = p.max_buffer_bytes ? p.max_buffer_bytes : p.memory_bytes / 4;
  if (most) std::erase_if(all, [&](uint64_t size) { return size > most; });
  return all;
}

// Checks that buffers of any size are aligned to 64 bytes.
void test_alignment(const Subject& subject) {
  const Bench bench(subject);
  bench.require_feature(
      TENON_FEATURE_HOST_VISIBLE,
      "the device does not declare HOST_VISIBLE, so buffers have no host address");
  std::vector<Buffer> kept;
  for (const uint64_t size : tested_sizes(bench, false)) {
    for (int i = 0; i < 4; ++i) {
      kept.emplace_back(bench, size);
      const void* const at = bench.calls().map(kept.back().get());
      require(at != nullptr, "map of {} bytes returned NULL", size);
      require(reinterpret_cast<uintptr_t>(at) % 64 == 0,
              "a buffer of {} bytes is not aligned to 64 bytes", size);
    }
  }
}

// Writes and reads buffers of each size in full, while all other buffers hold different contents.
void test_sizes(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  std::vector<Buffer> buffers;
  std::vector<Bytes> contents;
  for (const uint64_t size : tested_sizes(bench, subject.thorough)) {
    buffers.emplace_back(bench, size);
    contents.push_back(pseudorandom_bytes(size, static_cast<uint32_t>(size)));
    stream.write_now(buffers.back(), 0, contents.back());
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    expect_bytes(stream.read_now(buffers[i], 0, buffers[i].size()), contents[i],
                 fmt::format("the data in a buffer of {} bytes", buffers[i].size()));
  }
}

// Checks that the mapped address of a buffer is constant and gives access to its memory.
void test_map(const Subject& subject) {
  const Bench bench(subject);
  bench.require_feature(TENON_FEATURE_HOST_VISIBLE, "HOST_VISIBLE");
  const Stream stream(bench);
  const Buffer buffer(bench, 5000);
  auto* const at = static_cast<unsigned char*>(bench.calls().map(buffer.get()));
  require(at != nullptr, "map returned NULL");
  const Bytes first = pseudorandom_bytes(5000, 1), second = pseudorandom_bytes(5000, 2);
  std::memcpy(at, first.data(), first.size());
  expect_bytes(stream.read_now(buffer, 0, 5000), first,
               "data that the host wrote at the mapped address");
  stream.write_now(buffer, 0, second);
  expect_bytes(Bytes(at, at + 5000), second, "data that the host reads at the mapped address");
  {
    std::vector<Buffer> others;
    for (int i = 0; i < 100; ++i) others.emplace_back(bench, 5000);
    require(bench.calls().map(buffer.get()) == at, "a buffer's address has changed");
  }
  require(bench.calls().map(buffer.get()) == at, "a buffer's address has changed");
}

// Checks that the device uses imported host memory in place.
void test_import(const Subject& subject) {
  const Bench bench(subject);
  bench.require_feature(TENON_FEATURE_IMPORT_HOST, "IMPORT_HOST");
  const Stream stream(bench);
  bool taken = false;
  for (const size_t offset : {size_t{0}, size_t{64}, size_t{1}}) {
    for (const size_t size : {size_t{1}, size_t{100}, size_t{65536}}) {
      Bytes memory = pseudorandom_bytes(size + offset + 4096, 5);
      const size_t first =
          (4096 - reinterpret_cast<uintptr_t>(memory.data()) % 4096) % 4096 % 4096 + offset;
      tenon_buffer_p* handle = nullptr;
      if (tenon_error* error =
              bench.calls().import_host(bench.device(), memory.data() + first, size, &handle)) {
        const Failure failure = take_failure(error);
        require(failure.code == TENON_UNIMPLEMENTED,
                "import_host of {} bytes fails with code {}, not UNIMPLEMENTED: {}", size,
                failure.code, failure.message);
        require(handle == nullptr, "import_host refuses but returns a buffer");
        continue;
      }
      taken = true;
      Bytes got(size), now = pseudorandom_bytes(size, 6), want = memory;
      const tenon_copy_region read = {{handle, nullptr, 0, 0}, host_place(got.data()), size, 0};
      const tenon_copy_region write = {host_place(now.data()), {handle, nullptr, 0, 0}, size, 0};
      expect_success(bench.calls().copy(stream.get(), &read), "copy from imported memory");
      stream.finish();
      expect_bytes(got,
                   Bytes(memory.begin() + static_cast<ptrdiff_t>(first),
                         memory.begin() + static_cast<ptrdiff_t>(first + size)),
                   "imported memory");
      expect_success(bench.calls().copy(stream.get(), &write), "copy to imported memory");
      stream.finish();
      std::copy(now.begin(), now.end(), want.begin() + static_cast<ptrdiff_t>(first));
      bench.calls().release(handle);
      expect_bytes(memory, want, "the host's memory after it was written to and released");
    }
  }
  require(taken, "the device claims IMPORT_HOST but cannot import even one page");
}

// ---- exhaustion

// Checks that an allocation that is too large fails with OUT_OF_MEMORY, and that the device still
// works afterwards.
void test_exhaustion(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  const auto refuse = [&](uint64_t size) {
    tenon_buffer_p* buffer = nullptr;
    tenon_error* error = bench.calls().allocate(bench.device(), size, &buffer);
    if (!error && buffer) bench.calls().release(buffer);
    const Failure failure =
        expect_failure(error, fmt::format("allocate of {} bytes", size).c_str());
    require(buffer == nullptr, "allocate of {} bytes fails but returns a buffer", size);
    require(failure.code == TENON_OUT_OF_MEMORY,
            "allocate of {} bytes fails with code {}, not OUT_OF_MEMORY: {}", size, failure.code,
            failure.message);
  };
  const auto works = [&] {
    const Buffer buffer(bench, 1000);
    const Bytes bytes = pseudorandom_bytes(1000, 9);
    stream.write_now(buffer, 0, bytes);
    expect_bytes(stream.read_now(buffer, 0, 1000), bytes,
                 "data that were copied after memory ran out");
  };
  for (int i = 0; i < 50; ++i) {
    for (const uint64_t size : {uint64_t{1} << 62, ~uint64_t{0}, ~uint64_t{0} - 100}) refuse(size);
  }
  works();
  const tenon_device_properties& p = bench.properties();
  if (p.max_buffer_bytes) refuse(p.max_buffer_bytes + 1);
  // Skips devices with more memory than 256 MiB or of unknown size, since a host may report more
  // memory than it has.
  if (p.memory_bytes == 0 || p.memory_bytes > uint64_t{1} << 28) return;
  refuse(p.memory_bytes + 1);
  // The memory is small enough to fill. Fills it twice and expects the same number of buffers.
  const uint64_t piece = std::max<uint64_t>(p.memory_bytes / 16, 64);
  size_t counts[2] = {};
  for (size_t& count : counts) {
    std::vector<Buffer> pieces;
    while (true) {
      require(pieces.size() <= 16, "the device reports {} bytes of memory but allocated more",
              p.memory_bytes);
      tenon_buffer_p* buffer = nullptr;
      if (tenon_error* error = bench.calls().allocate(bench.device(), piece, &buffer)) {
        require(take_failure(error).code == TENON_OUT_OF_MEMORY,
                "with full memory, allocate fails with the wrong code");
        break;
      }
      bench.calls().release(buffer);
      pieces.emplace_back(bench, piece);
    }
    count = pieces.size();
  }
  require(counts[0] == counts[1] && counts[0] > 0,
          "{} buffers fit into the device's memory, but only {} after all were released", counts[0],
          counts[1]);
  works();
}

// ---- memory statistics

// Checks that memory statistics agree with the allocations.
void test_statistics(const Subject& subject) {
  const Bench bench(subject);
  const tenon_memory_statistics before = bench.statistics();
  uint64_t held = 0;
  {
    std::vector<Buffer> buffers;
    for (const uint64_t size : {uint64_t{100}, uint64_t{4096}, uint64_t{100000}}) {
      buffers.emplace_back(bench, size);
      held += size;
      const tenon_memory_statistics now = bench.statistics();
      require(now.allocated_bytes >= before.allocated_bytes + held,
              "{} more bytes are allocated, but memory_statistics reports {}", held,
              now.allocated_bytes - before.allocated_bytes);
      require(now.peak_bytes >= now.allocated_bytes, "peak_bytes is less than allocated_bytes");
      require(now.allocations == before.allocations + buffers.size(),
              "after {} allocations, memory_statistics counts {}", buffers.size(),
              now.allocations - before.allocations);
    }
    tenon_buffer_p* none = nullptr;
    expect_failure(bench.calls().allocate(bench.device(), uint64_t{1} << 62, &none),
                   "allocate of 2^62");
    require(bench.statistics().allocations == before.allocations + buffers.size(),
            "an allocation that failed is counted");
  }
  const tenon_memory_statistics after = bench.statistics();
  require(after.allocated_bytes == before.allocated_bytes,
          "all buffers are released, but memory_statistics reports {} allocated bytes",
          after.allocated_bytes - before.allocated_bytes);
  require(after.peak_bytes >= before.allocated_bytes + held, "peak_bytes has decreased");
}

// Allocates thousands of buffers on four threads and releases them in another order.
void test_balance(const Subject& subject) {
  const Bench bench(subject);
  const uint32_t rounds = subject.thorough ? 20 : 4;
  const auto churn = [&](uint32_t seed) {
    std::vector<std::unique_ptr<Buffer>> kept(64);
    for (const unsigned char byte : pseudorandom_bytes(rounds * 64, seed)) {
      std::unique_ptr<Buffer>& place = kept[byte % kept.size()];
      place = place ? nullptr : std::make_unique<Buffer>(bench, 1 + byte * 37u);
    }
  };
  churn(1);
  const uint64_t before = bench.statistics().allocated_bytes, memory = host_memory_in_use();
  std::mutex mutex;
  std::string fault;
  std::vector<Thread> threads;
  for (uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      try {
        for (int k = 0; k < 10; ++k) churn(i);
      } catch (const std::exception& error) {
        std::lock_guard lock(mutex);
        fault = error.what();
      }
    });
  }
  for (Thread& thread : threads) thread.join();
  require(fault.empty(), "on four threads: {}", fault);
  const uint64_t after = bench.statistics().allocated_bytes;
  if (after != before)
    throw Leak(fmt::format(
        "all buffers are released, but memory_statistics reports {} more allocated bytes",
        after - before));
  for (int i = 0; i < 50; ++i) churn(2);
  const uint64_t now = host_memory_in_use();
  if (now > memory + (1 << 20)) {
    throw Leak(fmt::format(
        "all buffers are released, but {} more bytes of host memory are allocated", now - memory));
  }
}

}  // namespace

std::vector<DeviceCheck> buffer_checks() {
  return {
      {"memory", "alignment", 1, "Buffers of any size are aligned to 64 bytes.", test_alignment},
      {"memory", "buffer_sizes", 1,
       "A buffer of any size keeps its contents while others are written.", test_sizes},
      {"memory", "map", 1, "A buffer's mapped address is constant and gives access to its memory.",
       test_map},
      {"memory", "import", 1,
       "Imported memory is the host's memory itself, before and after release.", test_import},
      {"memory", "exhaustion", 1,
       "An allocation that is too large fails with OUT_OF_MEMORY, and the device keeps working.",
       test_exhaustion},
      {"memory", "statistics", 1, "Memory statistics match the allocations.", test_statistics},
      {"memory", "balance", 1, "Released memory can be allocated again, from any thread.",
       test_balance},
  };
}

}  // namespace tenon_kit::device
