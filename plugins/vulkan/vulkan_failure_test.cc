// Tests of the reports of driver failures: a rejected submission and a lost device. The tests
// replace entries of the driver's function table.

#include <condition_variable>

#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/driver/stream.h"
#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {
namespace {

VKAPI_ATTR VkResult VKAPI_CALL has_no_memory(VkQueue, uint32_t, const VkSubmitInfo*, VkFence) {
  return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}
VKAPI_ATTR VkResult VKAPI_CALL is_lost(VkQueue, uint32_t, const VkSubmitInfo*, VkFence) {
  return VK_ERROR_DEVICE_LOST;
}
VKAPI_ATTR VkResult VKAPI_CALL is_lost_for_all(VkDevice, const VkSemaphoreWaitInfo*, uint64_t) {
  return VK_ERROR_DEVICE_LOST;
}

// Replaces vkQueueSubmit by a function that rejects the first submission only.
PFN_vkQueueSubmit submit_really;
int n_submissions;
VKAPI_ATTR VkResult VKAPI_CALL has_no_memory_once(VkQueue queue, uint32_t n,
                                                  const VkSubmitInfo* info, VkFence fence) {
  if (n_submissions++ == 0) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  return submit_really(queue, n, info, fence);
}

class VulkanFailure : public OnDriver {};

void write_ones(const Queue& stream, const Memory& a) {
  stream.write(a, Words(100, 1));
  stream.wait();
}

bool says(const Failure& failure, const std::string& words) {
  return failure.message.find(words) != std::string::npos;
}

// Waits for a callback and returns the failure that it received.
Failure notified(const Queue& stream) {
  struct Answer {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_there = false;
    Failure failure;
  } answer;
  const tenon_done_callback done = {.function =
                                        [](void* payload, const tenon_error* error) {
                                          if (error == nullptr) return;
                                          auto& told = *static_cast<Answer*>(payload);
                                          told.failure = *reinterpret_cast<const Failure*>(error);
                                        },
                                    .payload = &answer,
                                    .destroy =
                                        [](void* payload) {
                                          auto& told = *static_cast<Answer*>(payload);
                                          std::lock_guard guard(told.mutex);
                                          told.is_there = true;
                                          told.changed.notify_one();
                                        }};
  EXPECT_SUCCESS(TestDevice::calls().notify(stream.get(), done));
  std::unique_lock lock(answer.mutex);
  answer.changed.wait(lock, [&] { return answer.is_there; });
  return answer.failure;
}

TEST_P(VulkanFailure, RejectedSubmissionIsReportedForEachOfItsLaunches) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  const Memory a(bench(), 400);
  write_ones(stream, a);
  const auto submit = std::exchange(functions().QueueSubmit, has_no_memory);
  AddLaunch launch({&a, 0, 100}, {&a, 0, 100}, {&a, 0, 100});
  launch.get().work = this;
  for (uint64_t ticket = 1; ticket <= 3; ++ticket) {
    launch.get().ticket = ticket;
    EXPECT_SUCCESS(TestDevice::calls().launch(add.handle(), stream.get(), &launch.get()));
  }
  EXPECT_EQ(notified(stream).code, TENON_OK);  // All failures were reported before.
  {
    std::lock_guard guard(heard().mutex);
    ASSERT_EQ(heard().failed.size(), 3u);
    for (const auto& [ticket, failure] : heard().failed) {
      EXPECT_EQ(failure.code, TENON_OUT_OF_MEMORY) << failure.message;
      EXPECT_TRUE(says(failure, "the driver rejected the submission of the launch"))
          << failure.message;
      EXPECT_TRUE(says(failure, "VK_ERROR_OUT_OF_DEVICE_MEMORY")) << failure.message;
    }
  }
  functions().QueueSubmit = submit;
  // No launch ran, and the stream is still usable.
  EXPECT_EQ(stream.words(a, 100), Words(100, 1));
}

// A kernel with two dispatches, each in a separate submission.
class AddTwiceKernel final : public Kernel {
 public:
  explicit AddTwiceKernel(tenon_device_p* device) : add_(device, uint64_t{1} << 62) {}
  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    if (tenon_error* error = add_.enqueue(encoder, launch)) return error;
    return add_.enqueue(encoder, launch);
  }
  tenon_kernel_p* handle() { return tenon_sdk::to_c(this); }

 private:
  AddKernel add_;
};

TEST_P(VulkanFailure, FailedDispatchSkipsTheLaterDispatchesOfItsLaunch) {
  const Queue stream(bench());
  AddTwiceKernel twice(bench().device());
  const Memory a(bench(), 400);
  write_ones(stream, a);
  n_submissions = 0;
  submit_really = std::exchange(functions().QueueSubmit, has_no_memory_once);
  AddLaunch launch({&a, 0, 100}, {&a, 0, 100}, {&a, 0, 100});
  launch.get().work = this;
  launch.get().ticket = 1;
  EXPECT_SUCCESS(TestDevice::calls().launch(twice.handle(), stream.get(), &launch.get()));
  stream.wait();
  {
    std::lock_guard guard(heard().mutex);
    EXPECT_EQ(heard().failed.size(), 1u);
  }
  EXPECT_EQ(stream.words(a, 100), Words(100, 1));
  launch.get().ticket = 2;
  EXPECT_SUCCESS(TestDevice::calls().launch(twice.handle(), stream.get(), &launch.get()));
  EXPECT_EQ(stream.words(a, 100), Words(100, 4));
  functions().QueueSubmit = submit_really;
}

TEST_P(VulkanFailure, FailedCopyIsNotReportedToWaitersForEarlierWork) {
  const Queue queue(bench());
  Stream& stream = from_c(queue.get());
  const Memory a(bench(), 400);
  write_ones(queue, a);
  uint64_t before = 0, after = 0;
  EXPECT_SUCCESS(stream.record_event(before));
  const auto submit = std::exchange(functions().QueueSubmit, has_no_memory);
  queue.fill(a, 0, 400, 0, 4);
  EXPECT_SUCCESS(stream.record_event(after));
  functions().QueueSubmit = submit;
  from_c(bench().device()).queue().wait(after);
  EXPECT_SUCCESS(stream.take_failure(before));
  EXPECT_EQ(take(stream.take_failure(after)).code, TENON_OUT_OF_MEMORY);
  EXPECT_SUCCESS(stream.take_failure(after));
}

TEST_P(VulkanFailure, FailedCopyIsReportedToTheFirstWaiter) {
  const Queue stream(bench());
  const Memory a(bench(), 400);
  write_ones(stream, a);
  const auto submit = std::exchange(functions().QueueSubmit, has_no_memory);
  stream.fill(a, 0, 400, 0, 4);
  const Failure waited = take(TestDevice::calls().wait(stream.get()));
  EXPECT_EQ(waited.code, TENON_OUT_OF_MEMORY);
  EXPECT_TRUE(says(waited, "the driver rejected the submission of a copy")) << waited.message;
  EXPECT_TRUE(says(waited, "VK_ERROR_OUT_OF_DEVICE_MEMORY")) << waited.message;
  stream.fill(a, 0, 400, 0, 4);
  const Failure told = notified(stream);
  EXPECT_EQ(told.code, TENON_OUT_OF_MEMORY);
  EXPECT_EQ(told.message, waited.message);
  functions().QueueSubmit = submit;
  stream.wait();
  EXPECT_EQ(stream.words(a, 100), Words(100, 1));
}

TEST_P(VulkanFailure, TimeMarksOfARejectedSubmissionCannotBeRead) {
  if (!from_c(bench().device()).clock().is_supported()) GTEST_SKIP() << "it has no clock";
  const tenon_plugin_calls& calls = TestDevice::calls();
  const Queue stream(bench());
  const auto submit = std::exchange(functions().QueueSubmit, has_no_memory);
  uint64_t mark = 0, ns = 0;
  EXPECT_SUCCESS(calls.mark_time(stream.get(), &mark));
  EXPECT_SUCCESS(calls.wait(stream.get()));  // The stream has no other work.
  EXPECT_EQ(take(calls.read_time(stream.get(), mark, &ns)).code, TENON_INTERNAL);
  functions().QueueSubmit = submit;
  EXPECT_SUCCESS(calls.mark_time(stream.get(), &mark));
  EXPECT_SUCCESS(calls.wait(stream.get()));
  EXPECT_SUCCESS(calls.read_time(stream.get(), mark, &ns));
  EXPECT_GT(ns, 0u);
}

// Expects that every call fails with an error that names the device.
void expect_lost(const TestDevice& bench, const Queue& stream, const Memory& memory) {
  const tenon_plugin_calls& calls = TestDevice::calls();
  const std::string lost = "vulkan: " + std::string(bench.properties().description.data) +
                           " was lost (VK_ERROR_DEVICE_LOST)";
  const auto expect = [&](const Failure& failure) {
    EXPECT_EQ(failure.code, TENON_DEVICE_LOST);
    EXPECT_EQ(failure.message, lost);
  };
  expect(take(calls.wait(stream.get())));
  expect(notified(stream));
  const tenon_fill_region fill = {memory.get(), 0, 4, 0, 4, 0};
  expect(take(calls.fill(stream.get(), &fill)));
  tenon_event_p* event = nullptr;
  expect(take(calls.record_event(stream.get(), &event)));
  uint64_t mark = 0;
  const Failure marked = take(calls.mark_time(stream.get(), &mark));
  if (from_c(bench.device()).clock().is_supported()) {
    expect(marked);
  } else {
    EXPECT_EQ(marked.code, TENON_UNIMPLEMENTED);
  }
  tenon_buffer_p* buffer = nullptr;
  expect(take(calls.allocate(bench.device(), 4, &buffer)));
}

TEST_P(VulkanFailure, EveryCallReportsALostDevice) {
  const Queue stream(bench()), other(bench());
  const Memory a(bench(), 400);
  const auto submit = std::exchange(functions().QueueSubmit, is_lost);
  stream.fill(a, 0, 400, 1, 4);
  expect_lost(bench(), stream, a);
  expect_lost(bench(), other, a);
  functions().QueueSubmit = submit;
}

TEST_P(VulkanFailure, LossOfTheDeviceDuringWorkIsReportedToWaiters) {
  if (!from_c(bench().device()).driver().has_timeline()) GTEST_SKIP();
  const Queue stream(bench());
  const Memory a(bench(), 1 << 20);
  functions().WaitSemaphores = is_lost_for_all;
  for (int i = 0; i < 100; ++i) {
    const tenon_fill_region fill = {a.get(), 0, 1 << 20, 1, 4, 0};
    take(TestDevice::calls().fill(stream.get(), &fill));
  }
  expect_lost(bench(), stream, a);
  functions().DeviceWaitIdle(from_c(bench().device()).driver().device());
}

INSTANTIATE_TEST_SUITE_P(, VulkanFailure,
                         ::testing::Values(Settings{{"visible", "0"}},
                                           Settings{{"visible", "0"}, {"timeline", "0"}}),
                         name_of_settings);

}  // namespace
}  // namespace tenon_vulkan::testing
