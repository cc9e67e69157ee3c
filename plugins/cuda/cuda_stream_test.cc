// Tests of streams. The emulated driver runs all work immediately or with a delay.

#include <condition_variable>
#include <numeric>
#include <thread>

#include "plugins/cuda/testing/cuda_testing.h"

namespace tenon_cuda::testing {
namespace {

using Bytes = std::vector<uint8_t>;

// The parameter: the delay of each stream operation, in microseconds.
class CudaStream : public ::testing::TestWithParam<const char*> {
 protected:
  CudaStream() : late_("TENON_EMULATED_CUDA_LATE", GetParam()) {}
  void SetUp() override { ASSERT_TRUE(bench_.is_open()) << bench_.failure().message; }

  const tenon_plugin_calls& calls() const { return bench_.calls(); }
  tenon_stream_p* stream() const { return bench_.stream(); }
  tenon_buffer_p* allocate(uint64_t size) const {
    tenon_buffer_p* buffer = nullptr;
    EXPECT_SUCCESS(calls().allocate(bench_.device(), size, &buffer));
    return buffer;
  }
  tenon_error* upload(const Bytes& from, tenon_buffer_p* to, uint64_t offset = 0) const {
    const tenon_copy_region region = {{nullptr, const_cast<uint8_t*>(from.data()), 0, 0},
                                      {to, nullptr, offset, 0},
                                      from.size(),
                                      0};
    return calls().copy(stream(), &region);
  }
  tenon_error* download(tenon_buffer_p* from, Bytes& to, uint64_t offset = 0) const {
    const tenon_copy_region region = {
        {from, nullptr, offset, 0}, {nullptr, to.data(), 0, 0}, to.size(), 0};
    return calls().copy(stream(), &region);
  }

  const Variable late_;
  const Bench bench_;
};

Bytes counting(size_t n) {
  Bytes bytes(n);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  return bytes;
}

TEST_P(CudaStream, DownloadsTheUploadedBytes) {
  // The sizes are less than, equal to and greater than the maximum size of a staged copy.
  for (const size_t size : {size_t{3}, size_t{1} << 20, (size_t{1} << 20) + 5}) {
    const Bytes sent = counting(size);
    Bytes read(size);
    tenon_buffer_p* const buffer = allocate(size);
    EXPECT_SUCCESS(upload(sent, buffer));
    EXPECT_SUCCESS(download(buffer, read));
    EXPECT_SUCCESS(calls().wait(stream()));
    EXPECT_EQ(read, sent) << size;
    calls().release(buffer);
  }
}

TEST_P(CudaStream, CopyWaitsUntilPinnedMemoryIsFree) {
  tenon_buffer_p* const buffer = allocate(1 << 20);
  Bytes read(1 << 20);
  for (uint8_t i = 0; i < 12; ++i) {
    EXPECT_SUCCESS(upload(Bytes(1 << 20, i), buffer));
    EXPECT_SUCCESS(download(buffer, read));
  }
  EXPECT_SUCCESS(calls().wait(stream()));
  EXPECT_EQ(read, Bytes(1 << 20, 11));
  calls().release(buffer);
}

TEST_P(CudaStream, UploadReadsTheBytesOfAnEarlierDownload) {
  tenon_buffer_p* const a = allocate(16);
  tenon_buffer_p* const b = allocate(16);
  Bytes between(16), read(16);
  EXPECT_SUCCESS(upload(counting(16), a));
  EXPECT_SUCCESS(download(a, between));
  EXPECT_SUCCESS(upload(between, b));
  EXPECT_SUCCESS(download(b, read));
  EXPECT_SUCCESS(calls().wait(stream()));
  EXPECT_EQ(read, counting(16));
  calls().release(a);
  calls().release(b);
}

TEST_P(CudaStream, FillsWithPatternsOfEverySize) {
  const uint64_t pattern = 0x0807060504030201;
  for (const uint32_t size : {1u, 2u, 4u, 8u}) {
    tenon_buffer_p* const buffer = allocate(64);
    EXPECT_SUCCESS(upload(Bytes(64, 0xee), buffer));
    const tenon_fill_region fill = {buffer, 8, 48, pattern, size, 0};
    EXPECT_SUCCESS(calls().fill(stream(), &fill));
    Bytes read(64), expected(64, 0xee);
    for (size_t i = 8; i < 56; ++i) expected[i] = static_cast<uint8_t>(i % size + 1);
    EXPECT_SUCCESS(download(buffer, read));
    EXPECT_SUCCESS(calls().wait(stream()));
    EXPECT_EQ(read, expected) << size;
    calls().release(buffer);
  }
}

TEST_P(CudaStream, CopyBetweenOverlappingDeviceRangesIsRefused) {
  tenon_buffer_p* const buffer = allocate(64);
  const tenon_copy_region region = {{buffer, nullptr, 0, 0}, {buffer, nullptr, 8, 0}, 32, 0};
  EXPECT_EQ(take(calls().copy(stream(), &region)).code, TENON_UNIMPLEMENTED);
  calls().release(buffer);
}

TEST_P(CudaStream, OtherStreamWaitsForAnEvent) {
  tenon_stream_p* other = nullptr;
  EXPECT_SUCCESS(calls().open_stream(bench_.device(), &other));
  tenon_buffer_p* const buffer = allocate(16);
  EXPECT_SUCCESS(upload(counting(16), buffer));
  tenon_event_p* event = nullptr;
  EXPECT_SUCCESS(calls().record_event(stream(), &event));
  EXPECT_SUCCESS(calls().wait_event(other, event));
  Bytes read(16);
  const tenon_copy_region region = {
      {buffer, nullptr, 0, 0}, {nullptr, read.data(), 0, 0}, read.size(), 0};
  EXPECT_SUCCESS(calls().copy(other, &region));
  EXPECT_SUCCESS(calls().wait(other));
  EXPECT_EQ(read, counting(16));
  EXPECT_SUCCESS(calls().wait(stream()));
  calls().release_event(event);
  calls().close_stream(other);
  calls().release(buffer);
}

TEST_P(CudaStream, CallsBackAfterEarlierCopies) {
  struct Answer {
    std::mutex mutex;
    std::condition_variable changed;
    const Bytes* read;
    Bytes seen;
    bool is_called = false, is_destroyed = false;
  } answer;
  tenon_buffer_p* const buffer = allocate(16);
  Bytes read(16);
  answer.read = &read;
  EXPECT_SUCCESS(upload(counting(16), buffer));
  EXPECT_SUCCESS(download(buffer, read));
  const tenon_done_callback done = {
      .function =
          [](void* payload, const tenon_error* error) {
            auto& given = *static_cast<Answer*>(payload);
            EXPECT_EQ(error, nullptr);
            given.seen = *given.read;
            given.is_called = true;
          },
      .payload = &answer,
      .destroy =
          [](void* payload) {
            auto& given = *static_cast<Answer*>(payload);
            std::lock_guard guard(given.mutex);
            given.is_destroyed = true;
            given.changed.notify_all();
          },
  };
  EXPECT_SUCCESS(calls().notify(stream(), done));
  std::unique_lock lock(answer.mutex);
  answer.changed.wait(lock, [&] { return answer.is_destroyed; });
  EXPECT_TRUE(answer.is_called);
  EXPECT_EQ(answer.seen, counting(16));
  calls().release(buffer);
}

TEST_P(CudaStream, TimesOfLaterMarksAreLarger) {
  uint64_t first = 0, second = 0, first_ns = 0, second_ns = 0;
  EXPECT_SUCCESS(calls().mark_time(stream(), &first));
  EXPECT_SUCCESS(calls().wait(stream()));  // Waits, because the stream's thread may start late.
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_SUCCESS(calls().mark_time(stream(), &second));
  EXPECT_SUCCESS(calls().wait(stream()));
  EXPECT_SUCCESS(calls().read_time(stream(), first, &first_ns));
  EXPECT_SUCCESS(calls().read_time(stream(), second, &second_ns));
  EXPECT_GT(first_ns, 0u);
  EXPECT_GE(second_ns, first_ns + 1000000);
  EXPECT_EQ(take(calls().read_time(stream(), first, &first_ns)).code, TENON_INVALID_ARGUMENT);
}

INSTANTIATE_TEST_SUITE_P(Late, CudaStream, ::testing::Values("0", "500"),
                         [](const auto& us) { return std::string("By") + us.param; });

}  // namespace
}  // namespace tenon_cuda::testing
