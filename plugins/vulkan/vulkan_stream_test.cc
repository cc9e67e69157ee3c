// Tests of streams: copies and fills at unaligned offsets, dispatches, order, replays. Each test
// runs with several settings: the defaults, without host-visible memory, without timeline
// semaphores, and with the validation layer, which must report nothing.

#include <algorithm>
#include <condition_variable>
#include <thread>

#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {
namespace {

class VulkanStream : public OnDriver {
 protected:
  // Enqueues enough work to keep the stream busy for a while.
  void make_busy(const Queue& stream, const Memory& memory) const {
    for (int i = 0; i < 20; ++i) stream.fill(memory, 0, kBusyBytes, static_cast<uint64_t>(i), 4);
  }
  static constexpr uint64_t kBusyBytes = 1 << 20;
};

Bytes noise(uint64_t size, uint32_t seed) {
  Bytes bytes(size);
  for (uint8_t& byte : bytes) {
    seed = seed * 1664525 + 1013904223;
    byte = static_cast<uint8_t>(seed >> 24);
  }
  return bytes;
}

void put(Bytes& all, uint64_t offset, const Bytes& some) {
  std::copy(some.begin(), some.end(), all.begin() + static_cast<ptrdiff_t>(offset));
}
Bytes part(const Bytes& all, uint64_t offset, uint64_t size) {
  const auto first = all.begin() + static_cast<ptrdiff_t>(offset);
  return Bytes(first, first + static_cast<ptrdiff_t>(size));
}

constexpr uint64_t kSize = 5000;

TEST_P(VulkanStream, CopiesAnySizeAtAnyOffset) {
  const Queue stream(bench());
  const Memory a(bench(), kSize), b(bench(), kSize);
  Bytes model = noise(kSize, 1), other = noise(kSize, 2);
  stream.write(a, 0, model.data(), kSize);
  stream.write(b, 0, other.data(), kSize);
  uint32_t seed = 3;
  for (const uint64_t size : {1, 2, 3, 7, 8, 64, 65, 4097}) {
    for (const uint64_t offset : {0, 1, 3, 64, 101}) {
      const Bytes bytes = noise(size, ++seed);
      stream.write(a, offset, bytes.data(), size);
      put(model, offset, bytes);
      stream.copy(a, offset, b, 163 - offset, size);
      put(other, 163 - offset, bytes);
    }
  }
  EXPECT_EQ(stream.bytes(a, kSize), model);
  EXPECT_EQ(stream.bytes(b, kSize), other);
}

TEST_P(VulkanStream, CopiesMoreThanStagingMemoryHolds) {
  constexpr uint64_t kLarge = (uint64_t{100} << 20) + 13;
  const Queue stream(bench());
  const Memory a(bench(), kLarge);
  const Bytes bytes = noise(kLarge, 1);
  const Memory busy(bench(), kBusyBytes);
  make_busy(stream, busy);
  stream.write(a, 0, bytes.data(), kLarge);
  EXPECT_TRUE(stream.bytes(a, kLarge) == bytes);
}

TEST_P(VulkanStream, CopiesOverlappingRangesLikeMemmove) {
  const Queue stream(bench());
  constexpr uint64_t kLarge = (uint64_t{16} << 20) + 3000;
  const Memory buffer(bench(), kLarge);
  for (const auto& [from, to, size] : {std::array<uint64_t, 3>{0, 100, 3000},
                                       {100, 0, 3000},
                                       {64, 65, 4000},
                                       {7, 7, 100},
                                       {0, 5, kLarge - 5},
                                       {5, 0, kLarge - 5}}) {
    Bytes model = noise(kLarge, 5);
    stream.write(buffer, 0, model.data(), kLarge);
    stream.copy(buffer, from, buffer, to, size);
    put(model, to, part(model, from, size));
    EXPECT_TRUE(stream.bytes(buffer, kLarge) == model) << size << " from " << from << " to " << to;
  }
}

TEST_P(VulkanStream, CopiesBetweenHostAddressesInOrder) {
  const Queue stream(bench());
  const Memory a(bench(), kSize), busy(bench(), kBusyBytes);
  const Bytes first = noise(kSize, 1);
  Bytes read(kSize), moved(kSize);
  make_busy(stream, busy);
  stream.write(a, 0, first.data(), kSize);
  stream.read(a, 0, read.data(), kSize);
  const tenon_copy_region region = {
      {nullptr, read.data(), 1, 0}, {nullptr, moved.data(), 2, 0}, kSize - 2, 0};
  EXPECT_SUCCESS(calls().copy(stream.get(), &region));
  // The source is overwritten on the device after the copy has read it.
  stream.write(a, 1, moved.data() + 2, 100);
  Bytes model = first;
  put(model, 1, part(first, 1, 100));
  EXPECT_EQ(stream.bytes(a, kSize), model);
  EXPECT_EQ(part(moved, 2, kSize - 2), part(first, 1, kSize - 2));
}

TEST_P(VulkanStream, CopiesHostMemoryWhileTheDeviceIsBusy) {
  const Queue stream(bench());
  const Memory a(bench(), kSize), busy(bench(), kBusyBytes);
  make_busy(stream, busy);
  Bytes bytes = noise(kSize, 1);
  const Bytes kept = bytes;
  stream.write(a, 0, bytes.data(), kSize);
  stream.wait();
  std::fill(bytes.begin(), bytes.end(), uint8_t{0});
  EXPECT_EQ(stream.bytes(a, kSize), kept);
}

TEST_P(VulkanStream, RejectsCopiesAndFillsOutsideTheirBuffers) {
  const Queue stream(bench());
  const Memory a(bench(), 100), b(bench(), 100);
  const tenon_copy_region copies[] = {{{a.get(), nullptr, 1, 0}, {b.get(), nullptr, 0, 0}, 100, 0},
                                      {{a.get(), nullptr, 0, 0}, {b.get(), nullptr, 101, 0}, 1, 0}};
  for (const tenon_copy_region& region : copies) {
    EXPECT_EQ(take(calls().copy(stream.get(), &region)).code, TENON_INVALID_ARGUMENT);
  }
  const tenon_fill_region fills[] = {
      {a.get(), 96, 8, 0, 4, 0}, {a.get(), 0, 6, 0, 4, 0}, {a.get(), 0, 6, 0, 3, 0}};
  for (const tenon_fill_region& region : fills) {
    EXPECT_EQ(take(calls().fill(stream.get(), &region)).code, TENON_INVALID_ARGUMENT);
  }
  stream.copy(a, 100, b, 100, 0);
  stream.wait();
}

// ---- fills

TEST_P(VulkanStream, FillsWithPatternsOfEachSizeAtAnyOffset) {
  constexpr uint64_t kPattern = 0x8877665544332211;
  const Queue stream(bench());
  const Memory buffer(bench(), kSize), busy(bench(), kBusyBytes);
  for (const bool is_busy : {false, true}) {
    Bytes model = noise(kSize, 1);
    stream.write(buffer, 0, model.data(), kSize);
    if (is_busy) make_busy(stream, busy);
    for (const uint32_t n : {1u, 2u, 4u, 8u}) {
      for (const uint64_t count : {0, 1, 2, 3, 129, 500}) {
        for (const uint64_t offset : {0, 1, 2, 3, 67}) {
          stream.fill(buffer, offset, count * n, kPattern, n);
          for (uint64_t i = 0; i < count * n; ++i) {
            model[offset + i] = static_cast<uint8_t>(kPattern >> 8 * (i % n));
          }
        }
      }
      EXPECT_EQ(stream.bytes(buffer, kSize), model) << n << " bytes, busy: " << is_busy;
    }
  }
}

TEST_P(VulkanStream, FillsMoreThanStagingMemoryHoldsWithAnEightBytePattern) {
  constexpr uint64_t kLarge = uint64_t{80} << 20;
  const Queue stream(bench());
  const Memory buffer(bench(), kLarge);
  stream.fill(buffer, 0, kLarge, 0x8877665544332211, 8);
  Bytes want(kLarge);
  for (uint64_t i = 0; i < kLarge; ++i) want[i] = static_cast<uint8_t>(0x11 * (i % 8 + 1));
  EXPECT_TRUE(stream.bytes(buffer, kLarge) == want);
}

// ---- dispatches

TEST_P(VulkanStream, DispatchesAShaderOnRangesOfBuffers) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  const Memory a(bench(), 4000), b(bench(), 4000), out(bench(), 4000);
  Words x(1000), y(1000), want(1000, 7);
  for (uint32_t i = 0; i < 1000; ++i) x[i] = i, y[i] = 10 * i;
  stream.write(a, x);
  stream.write(b, y);
  stream.write(out, want);
  AddLaunch launch({&a, 8, 900}, {&b, 40, 900}, {&out, 12, 900});
  EXPECT_SUCCESS(calls().launch(add.handle(), stream.get(), &launch.get()));
  for (uint32_t i = 0; i < 900; ++i) want[3 + i] = x[2 + i] + y[10 + i];
  EXPECT_EQ(stream.words(out, 1000), want);
}

TEST_P(VulkanStream, ShadersReadOperandsByValue) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  const Memory a(bench(), 400), out(bench(), 400);
  stream.write(a, Words(100, 5));
  uint32_t value = 3;
  AddLaunch launch({&a, 0, 100}, {nullptr, 0, 1, &value}, {&out, 0, 100});
  EXPECT_SUCCESS(calls().launch(add.handle(), stream.get(), &launch.get()));
  value = 99;  // The plugin may read the value during the call only.
  EXPECT_EQ(stream.words(out, 100), Words(100, 8));
}

TEST_P(VulkanStream, LaunchWithoutElementsEnqueuesNothing) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  const Memory a(bench(), 400);
  stream.write(a, Words(100, 5));
  AddLaunch launch({&a, 0, 0}, {&a, 0, 0}, {&a, 0, 0});
  EXPECT_SUCCESS(calls().launch(add.handle(), stream.get(), &launch.get()));
  EXPECT_EQ(stream.words(a, 100), Words(100, 5));
}

// Each launch reads the results of the previous launch. Copies and fills are enqueued between
// launches.
TEST_P(VulkanStream, RunsWorkInOrder) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  const Memory a(bench(), 400), b(bench(), 400);
  stream.fill(a, 0, 400, 0, 4);
  for (uint32_t i = 0; i < 1000; ++i) {
    const uint32_t value = i;
    AddLaunch forth({&a, 0, 100}, {nullptr, 0, 1, &value}, {&b, 0, 100});
    EXPECT_SUCCESS(calls().launch(add.handle(), stream.get(), &forth.get()));
    stream.copy(b, 0, a, 0, 400);
    if (i % 100 == 99) stream.fill(a, 0, 4, i, 4);
  }
  Words want(100, 999 * 1000 / 2);
  want[0] = 999;
  EXPECT_EQ(stream.words(a, 100), want);
}

TEST_P(VulkanStream, EachReadReturnsTheResultsOfTheLaunchesBeforeIt) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  const Memory a(bench(), 4000);
  stream.write(a, Words(1000, 0));
  std::vector<Words> seen(200, Words(1000));
  const uint32_t one = 1;
  for (Words& words : seen) {
    AddLaunch launch({&a, 0, 1000}, {nullptr, 0, 1, &one}, {&a, 0, 1000});
    EXPECT_SUCCESS(calls().launch(add.handle(), stream.get(), &launch.get()));
    stream.read(a, 0, words.data(), 4000);
  }
  stream.wait();
  for (uint32_t i = 0; i < 200; ++i) ASSERT_EQ(seen[i], Words(1000, i + 1));
}

TEST_P(VulkanStream, ReportsAnOperandLargerThanABinding) {
  const uint64_t most = capabilities_of(bench().device()).max_operand_bytes;
  if (bench().properties().max_buffer_bytes < most + 8 || most > uint64_t{1} << 29) GTEST_SKIP();
  const Queue stream(bench());
  AddKernel add(bench().device());
  const Memory a(bench(), most + 4), b(bench(), 400);
  const auto n = static_cast<int64_t>(most / 4 + 1);
  AddLaunch launch({&a, 0, n}, {&b, 0, 1}, {&a, 0, n});
  const Failure failure = take(calls().launch(add.handle(), stream.get(), &launch.get()));
  EXPECT_EQ(failure.code, TENON_UNIMPLEMENTED);
  EXPECT_NE(failure.message.find(std::to_string(most)), std::string::npos) << failure.message;
  // Parts of the buffer can be bound at any offset.
  stream.fill(b, 0, 400, 2, 4);
  for (const uint64_t offset : {uint64_t{0}, most / 2 - 100, most - 396}) {
    stream.fill(a, offset, 400, 1, 4);
    AddLaunch there({&a, offset, 100}, {&b, 0, 100}, {&a, offset, 100});
    EXPECT_SUCCESS(calls().launch(add.handle(), stream.get(), &there.get()));
    Words words(100);
    stream.read(a, offset, words.data(), 400);
    stream.wait();
    EXPECT_EQ(words, Words(100, 3)) << offset;
  }
}

// ---- order between streams

TEST_P(VulkanStream, OrdersStreamsByEvents) {
  const Queue first(bench()), second(bench());
  const Memory data(bench(), kBusyBytes), copy(bench(), kBusyBytes);
  for (uint8_t i = 1; i < 10; ++i) {
    const Queue& a = i % 2 ? first : second;
    const Queue& b = i % 2 ? second : first;
    make_busy(a, data);
    a.fill(data, 0, kBusyBytes, i, 1);
    tenon_event_p* event = nullptr;
    EXPECT_SUCCESS(calls().record_event(a.get(), &event));
    EXPECT_SUCCESS(calls().wait_event(b.get(), event));
    EXPECT_SUCCESS(calls().wait_event(a.get(), event));
    calls().release_event(event);
    b.copy(data, 0, copy, 0, kBusyBytes);
    EXPECT_TRUE(b.bytes(copy, kBusyBytes) == Bytes(kBusyBytes, i));
    a.wait();
  }
}

TEST_P(VulkanStream, EventOrdersADownloadBeforeAnUploadOfAnotherStream) {
  const Queue first(bench()), second(bench());
  const Memory a(bench(), kBusyBytes), b(bench(), kBusyBytes);
  Bytes between(kBusyBytes, 0);
  make_busy(first, a);
  first.fill(a, 0, kBusyBytes, 7, 1);
  first.read(a, 0, between.data(), kBusyBytes);
  tenon_event_p* event = nullptr;
  EXPECT_SUCCESS(calls().record_event(first.get(), &event));
  EXPECT_SUCCESS(calls().wait_event(second.get(), event));
  calls().release_event(event);
  second.write(b, 0, between.data(), kBusyBytes);
  EXPECT_TRUE(second.bytes(b, kBusyBytes) == Bytes(kBusyBytes, 7));
  first.wait();
}

TEST_P(VulkanStream, CanBeClosedWithWorkInFlight) {
  const Memory data(bench(), kBusyBytes);
  for (int i = 0; i < 20; ++i) {
    const Queue stream(bench());
    make_busy(stream, data);
  }
}

// ---- callbacks

struct Calls {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int> order;
  int destroyed = 0;
  tenon_code code = TENON_OK;
};
struct Call {
  Calls& calls;
  int number;
};

tenon_done_callback call_back(Calls& all, int number) {
  return {.function =
              [](void* payload, const tenon_error* error) {
                const Call& call = *static_cast<Call*>(payload);
                std::lock_guard guard(call.calls.mutex);
                call.calls.order.push_back(call.number);
                if (error) call.calls.code = TENON_INTERNAL;
              },
          .payload = new Call{all, number},
          .destroy =
              [](void* payload) {
                const std::unique_ptr<Call> call(static_cast<Call*>(payload));
                std::lock_guard guard(call->calls.mutex);
                ++call->calls.destroyed;
                call->calls.changed.notify_all();
              }};
}

TEST_P(VulkanStream, RunsEachCallbackOnceInOrder) {
  const Queue stream(bench());
  const Memory data(bench(), kBusyBytes);
  Calls all;
  std::vector<int> want;
  for (int i = 0; i < 50; ++i) {
    if (i % 3 == 0) make_busy(stream, data);
    EXPECT_SUCCESS(calls().notify(stream.get(), call_back(all, i)));
    want.push_back(i);
  }
  std::unique_lock lock(all.mutex);
  all.changed.wait(lock, [&] { return all.destroyed == 50; });
  EXPECT_EQ(all.order, want);
  EXPECT_EQ(all.code, TENON_OK);
}

TEST_P(VulkanStream, ReadsAreCompleteWhenCallbacksRun) {
  const Queue stream(bench());
  const Memory data(bench(), kBusyBytes);
  Bytes read(kBusyBytes);
  make_busy(stream, data);
  stream.fill(data, 0, kBusyBytes, 9, 1);
  stream.read(data, 0, read.data(), kBusyBytes);
  Calls all;
  EXPECT_SUCCESS(calls().notify(stream.get(), call_back(all, 0)));
  std::unique_lock lock(all.mutex);
  all.changed.wait(lock, [&] { return all.destroyed == 1; });
  EXPECT_TRUE(read == Bytes(kBusyBytes, 9));
}

// The stream submits work that it gathered while the device was busy, even if no caller waits.
TEST_P(VulkanStream, SubmitsGatheredWorkWithoutAWaiter) {
  const bool is_visible = (bench().properties().features & TENON_FEATURE_HOST_VISIBLE) != 0;
  if (!is_visible) GTEST_SKIP() << "only the address tells";
  const Queue stream(bench());
  const Memory data(bench(), kBusyBytes);
  stream.fill(data, 0, kBusyBytes, 1, 4);
  make_busy(stream, data);
  stream.fill(data, 0, kBusyBytes, 77, 4);
  const auto* const words = static_cast<volatile uint32_t*>(calls().map(data.get()));
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (words[0] != 77 && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(words[0], 77u);
}

TEST_P(VulkanStream, OtherThreadsCanWaitForTheStream) {
  const Queue stream(bench());
  const Memory data(bench(), kBusyBytes);
  std::atomic<bool> is_done{false};
  std::vector<std::thread> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([&] {
      while (!is_done) stream.wait();
    });
  }
  for (int i = 0; i < 20; ++i) make_busy(stream, data);
  is_done = true;
  for (std::thread& thread : waiting) thread.join();
  stream.fill(data, 0, kBusyBytes, 5, 1);
  EXPECT_TRUE(stream.bytes(data, kBusyBytes) == Bytes(kBusyBytes, 5));
}

// ---- recordings

TEST_P(VulkanStream, ReplaysWithDifferentMemoryAndValues) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  const Memory a(bench(), 4096), b(bench(), 4096), fixed(bench(), 4096);
  stream.write(fixed, Words(100, 1000));
  const uint32_t now = 1;
  AddLaunch first({&a, 0, 100}, {nullptr, 0, 1, &now}, {&b, 0, 100});
  AddLaunch second({&b, 0, 100}, {&fixed, 0, 100}, {&a, 0, 100});
  const tenon_recorded_operand of_first[] = {
      {TENON_OPERAND_IN_SLOT, 0, 0}, {TENON_OPERAND_BY_VALUE, 0, 0}, {TENON_OPERAND_IN_SLOT, 1, 0}};
  const tenon_recorded_operand of_second[] = {
      {TENON_OPERAND_IN_SLOT, 1, 0}, {TENON_OPERAND_FIXED, 0, 0}, {TENON_OPERAND_IN_SLOT, 0, 0}};
  const tenon_recorded_launch launches[] = {{add.handle(), &first.get(), of_first, 3},
                                            {add.handle(), &second.get(), of_second, 3}};
  const tenon_record_request request = {sizeof request, 0, 2, 2, 1, launches};
  tenon_recording_p* recording = nullptr;
  tenon_string reason = {};
  EXPECT_SUCCESS(calls().record(bench().device(), &request, &recording, &reason));
  ASSERT_NE(recording, nullptr);

  const Memory c(bench(), 4096), d(bench(), 4096);
  stream.write(c, Words(1024, 5));
  stream.write(d, Words(1024, 0));
  stream.write(a, Words(1024, 0));
  uint32_t want_c = 5, want_a = 0;
  for (uint32_t i = 0; i < 200; ++i) {
    // In some replays both slots are the same memory. The slots move in each replay.
    const bool is_one = i % 3 == 2;
    const tenon_slot slots[] = {{is_one ? a.get() : c.get(), is_one ? 128u : 64u, nullptr, 0},
                                {is_one ? a.get() : d.get(), is_one ? 128u : 192u, nullptr, 0}};
    const tenon_element values[] = {{{i, 0}}};
    const tenon_replay replay = {.struct_size = sizeof replay,
                                 .n_slots = 2,
                                 .n_values = 1,
                                 .slots = slots,
                                 .values = values,
                                 .ticket = i};
    EXPECT_SUCCESS(calls().replay(recording, stream.get(), &replay));
    (is_one ? want_a : want_c) += i + 1000;
  }
  Words words(100);
  stream.read(c, 64, words.data(), 400);
  stream.wait();
  EXPECT_EQ(words, Words(100, want_c));
  stream.read(a, 128, words.data(), 400);
  stream.wait();
  EXPECT_EQ(words, Words(100, want_a));
  calls().release_recording(recording);
}

INSTANTIATE_TEST_SUITE_P(, VulkanStream,
                         ::testing::Values(Settings{}, Settings{{"visible", "0"}},
                                           Settings{{"timeline", "0"}}, Settings{{"validate", "1"}},
                                           Settings{{"visible", "0"}, {"validate", "1"}},
                                           Settings{{"timeline", "0"}, {"validate", "1"}}),
                         name_of_settings);

}  // namespace
}  // namespace tenon_vulkan::testing
