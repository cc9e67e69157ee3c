// Tests that calls fail without side effects when host memory is exhausted. Only allocations by
// `new` on this thread fail, because some drivers crash if their allocations fail.

#include <cstdlib>
#include <new>

#include "plugins/vulkan/testing/vulkan_testing.h"

namespace {

// Number of allocations up to and including the failing one; 0: none fails.
thread_local int n_left = 0;

}  // namespace

void* operator new(size_t size) {
  if (n_left > 0 && --n_left == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace tenon_vulkan::testing {
namespace {

// Repeats the call: first the first allocation fails, then the second, and so on, until none fails.
// Allocations for the error itself succeed, because only one allocation fails.
template <class Call, class End>
void exhaust(const char* name, const Call& call, const End& end) {
  for (int n = 1; n < 200; ++n) {
    n_left = n;
    tenon_error* const error = call();
    const bool was_reached = n_left == 0;
    n_left = 0;
    const Failure failure = take(error);
    if (failure.code == TENON_OK) {
      end();
    } else {
      EXPECT_EQ(failure.code, TENON_OUT_OF_MEMORY) << name << ": " << failure.message;
    }
    if (!was_reached) return;
  }
  ADD_FAILURE() << name << " allocates without an end";
}

TEST(VulkanHostMemory, EveryCallReportsAFailedHostAllocationWithoutSideEffects) {
  const TestDevice bench(Settings{{"cache", ""}, {"visible", "0"}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const tenon_plugin_calls& calls = TestDevice::calls();
  const auto nothing = [] {};
  tenon_buffer_p* buffer = nullptr;
  exhaust(
      "allocate", [&] { return calls.allocate(bench.device(), 100, &buffer); },
      [&] { calls.release(buffer); });
  tenon_stream_p* opened = nullptr;
  exhaust(
      "open_stream", [&] { return calls.open_stream(bench.device(), &opened); },
      [&] { calls.close_stream(opened); });

  const Queue stream(bench);
  const Memory a(bench, 4000), b(bench, 4000);
  const Words ones(1000, 1);
  Words read(1000);
  const tenon_copy_region copies[] = {
      {{nullptr, const_cast<uint32_t*>(ones.data()), 0, 0}, {a.get(), nullptr, 0, 0}, 4000, 0},
      {{a.get(), nullptr, 0, 0}, {b.get(), nullptr, 0, 0}, 4000, 0},
      {{a.get(), nullptr, 0, 0}, {a.get(), nullptr, 8, 0}, 400, 0},
      {{b.get(), nullptr, 0, 0}, {nullptr, read.data(), 0, 0}, 4000, 0}};
  for (const tenon_copy_region& copy : copies) {
    exhaust(
        "copy", [&] { return calls.copy(stream.get(), &copy); }, nothing);
  }
  const tenon_fill_region fill = {a.get(), 1, 3000, 1, 1, 0};
  exhaust(
      "fill", [&] { return calls.fill(stream.get(), &fill); }, nothing);
  AddKernel add(bench.device());
  AddLaunch launch({&a, 0, 1000}, {&b, 0, 1000}, {&b, 0, 1000});
  // Creates the pipeline first, because allocations inside the driver must not fail.
  EXPECT_SUCCESS(calls.launch(add.handle(), stream.get(), &launch.get()));
  stream.wait();
  exhaust(
      "launch", [&] { return calls.launch(add.handle(), stream.get(), &launch.get()); }, nothing);
  tenon_event_p* event = nullptr;
  exhaust(
      "record_event", [&] { return calls.record_event(stream.get(), &event); },
      [&] { calls.release_event(event); });
  const tenon_done_callback done = {
      .function = [](void*, const tenon_error*) {}, .payload = nullptr, .destroy = nullptr};
  exhaust(
      "notify", [&] { return calls.notify(stream.get(), done); }, nothing);
  stream.wait();

  // The device is still usable.
  stream.write(a, ones);
  stream.write(b, Words(1000, 2));
  EXPECT_SUCCESS(calls.launch(add.handle(), stream.get(), &launch.get()));
  EXPECT_EQ(stream.words(b, 1000), Words(1000, 3));
}

}  // namespace
}  // namespace tenon_vulkan::testing
