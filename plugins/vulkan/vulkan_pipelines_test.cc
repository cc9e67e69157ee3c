// Tests of the creation of pipelines by threads: launches do not block, later work is held in
// order, and if the driver fails to create a pipeline, the launches with it fail. The tests replace
// the driver's function by one that can block.

#include <chrono>
#include <condition_variable>
#include <thread>

#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/driver/held_dispatches.h"
#include "plugins/vulkan/spirv/code.h"
#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {
namespace {

constexpr auto kLimit = std::chrono::seconds(20);

// A gate at which calls of the driver wait until it opens. Selects their results.
class Gate {
 public:
  void close() {
    set([&] { is_open_ = false; });
  }
  void open() {
    set([&] { is_open_ = true; });
  }
  // Opens the gate as soon as `n` calls wait.
  void open_when_waiting(int n) {
    set([&] {
      is_open_ = false;
      enough_ = n;
    });
  }
  // If `fails`, calls return VK_ERROR_OUT_OF_HOST_MEMORY.
  void fail(bool fails) {
    set([&] { fails_ = fails; });
  }
  void reset() {
    set([&] { is_open_ = true, enough_ = 1000, fails_ = false, most_ = 0; });
  }
  int most() {  // Maximum number of concurrent calls.
    std::lock_guard guard(mutex_);
    return most_;
  }

  VkResult enter() {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++n_inside_);
    if (n_inside_ >= enough_) is_open_ = true;
    changed_.notify_all();
    EXPECT_TRUE(changed_.wait_for(lock, kLimit, [&] { return is_open_; }));
    --n_inside_;
    return fails_ ? VK_ERROR_OUT_OF_DEVICE_MEMORY : VK_SUCCESS;
  }
  // Blocks until a call waits at the gate.
  void wait_for_blocked_call() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kLimit, [&] { return n_inside_ > 0; }));
  }

 private:
  template <class Change>
  void set(const Change& change) {
    std::lock_guard guard(mutex_);
    change();
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = true, fails_ = false;
  int enough_ = 1000, n_inside_ = 0, most_ = 0;
} gate;

PFN_vkCreateComputePipelines create_of_driver = nullptr;

VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice device, VkPipelineCache cache, uint32_t n,
                                      const VkComputePipelineCreateInfo* infos,
                                      const VkAllocationCallbacks* allocation, VkPipeline* made) {
  const VkResult result = gate.enter();
  return result == VK_SUCCESS ? create_of_driver(device, cache, n, infos, allocation, made)
                              : result;
}

// Computes x[i] = 3 x[i] + number for words. Each number has a separate pipeline. The results
// depend on the order of the kernels.
class StepKernel final : public Kernel {
 public:
  StepKernel(tenon_device_p* device, uint32_t number) {
    spirv::Code code(capabilities_of(device), {.n_operands = 1, .local_size = 64});
    const spirv::Memory x = code.operand(0);
    const spirv::U32 first = code.operand_offset(0) >> 2;
    code.for_each(code.parameter(0),
                  [&](spirv::U32 i) { x.store(first + i, x.load(first + i) * 3 + number); });
    EXPECT_SUCCESS(make_pipeline(device, code.finish(), 1, &pipeline_));
  }
  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const Operand x = operand_of(launch, 0);
    const auto n = static_cast<uint32_t>(launch.outputs[0].sizes[0]);
    return encoder.dispatch({pipeline_.get(), {&x, 1}, {&n, 1}, {1, 1, 1}});
  }

 private:
  PipelineRef pipeline_;
};

constexpr int64_t kCount = 100;

class VulkanPipelines : public OnDriver {
 protected:
  void SetUp() override {
    OnDriver::SetUp();
    if (IsSkipped()) return;
    gate.reset();
    create_of_driver = std::exchange(functions().CreateComputePipelines, create);
  }
  void TearDown() override {
    gate.open();
    OnDriver::TearDown();
  }

  static void step(const Queue& stream, StepKernel& kernel, const Memory& x, uint64_t ticket = 0) {
    const int64_t size = kCount, stride = 1;
    tenon_view view = {};
    view.buffer = x.get();
    view.sizes = &size;
    view.strides = &stride;
    view.dtype = TENON_UINT32;
    view.rank = 1;
    view.strides_class = TENON_STRIDES_DENSE;
    tenon_launch launch = {};
    launch.struct_size = sizeof launch;
    launch.n_outputs = 1;
    launch.outputs = &view;
    launch.ticket = ticket;
    EXPECT_SUCCESS(TestDevice::calls().launch(tenon_sdk::to_c(&kernel), stream.get(), &launch));
  }
};

TEST_P(VulkanPipelines, CreatingAPipelineDoesNotBlockLaunches) {
  const Queue stream(bench());
  const Memory x(bench(), 400);
  stream.write(x, Words(kCount, 1));
  gate.close();
  StepKernel first(bench().device(), 1);
  AddKernel add(bench().device());
  StepKernel second(bench().device(), 2);
  step(stream, first, x);
  {
    // The plugin reads the value during the call only.
    const uint32_t value = 10;
    AddLaunch launch({&x, 0, kCount}, {nullptr, 0, 1, &value}, {&x, 0, kCount});
    EXPECT_SUCCESS(TestDevice::calls().launch(add.handle(), stream.get(), &launch.get()));
  }
  step(stream, second, x);
  step(stream, first, x);
  gate.open();
  EXPECT_EQ(stream.words(x, kCount), Words(kCount, ((3 + 1 + 10) * 3 + 2) * 3 + 1));
}

TEST_P(VulkanPipelines, SeveralPipelinesAreCreatedConcurrently) {
  const Queue stream(bench());
  const Memory x(bench(), 400);
  stream.write(x, Words(kCount, 1));
  gate.open_when_waiting(2);
  StepKernel first(bench().device(), 1), second(bench().device(), 2);
  step(stream, first, x);
  step(stream, second, x);
  EXPECT_EQ(stream.words(x, kCount), Words(kCount, (3 + 1) * 3 + 2));
  EXPECT_GE(gate.most(), 2);
}

TEST_P(VulkanPipelines, HeldDispatchesAreSubmittedWithoutAWaiter) {
  if ((bench().properties().features & TENON_FEATURE_HOST_VISIBLE) == 0) {
    GTEST_SKIP() << "only the address tells";
  }
  const Queue stream(bench());
  const Memory x(bench(), 400);
  stream.write(x, Words(kCount, 1));
  stream.wait();
  gate.close();
  StepKernel first(bench().device(), 5);
  step(stream, first, x);
  gate.wait_for_blocked_call();
  gate.open();
  const auto* const words = static_cast<volatile uint32_t*>(TestDevice::calls().map(x.get()));
  const auto limit = std::chrono::steady_clock::now() + kLimit;
  while (words[0] != 8 && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(words[0], 8u);
}

TEST_P(VulkanPipelines, PipelineThatCannotBeCreatedFailsOnlyItsLaunches) {
  const Queue stream(bench());
  const Memory x(bench(), 400), y(bench(), 400);
  stream.write(x, Words(kCount, 1));
  stream.write(y, Words(kCount, 1));
  StepKernel sound(bench().device(), 1);
  step(stream, sound, x, 1);
  stream.wait();
  gate.fail(true);
  StepKernel failing(bench().device(), 2);
  step(stream, failing, y, 2);
  step(stream, sound, x, 3);
  stream.wait();
  {
    std::lock_guard guard(heard().mutex);
    ASSERT_EQ(heard().failed.size(), 1u);
    EXPECT_EQ(heard().failed.begin()->first, 2u);
    const Failure& failure = heard().failed.begin()->second;
    EXPECT_EQ(failure.code, TENON_OUT_OF_MEMORY);
    EXPECT_NE(failure.message.find("cannot compile a shader"), std::string::npos)
        << failure.message;
  }
  EXPECT_EQ(stream.words(x, kCount), Words(kCount, (3 + 1) * 3 + 1));
  EXPECT_EQ(stream.words(y, kCount), Words(kCount, 1));
  // Once memory is available again, the pipeline is created.
  gate.fail(false);
  step(stream, failing, y, 4);
  EXPECT_EQ(stream.words(y, kCount), Words(kCount, 3 + 2));
}

TEST_P(VulkanPipelines, NumberOfHeldDispatchesIsBounded) {
  const Queue stream(bench());
  const Memory x(bench(), 400);
  stream.write(x, Words(kCount, 0));
  stream.wait();
  gate.close();
  StepKernel slow(bench().device(), 1);
  gate.wait_for_blocked_call();
  std::thread opens([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.open();
  });
  uint32_t expected = 0;
  for (size_t i = 0; i < 3 * HeldDispatches::kMax; ++i) {
    step(stream, slow, x);
    expected = 3 * expected + 1;
  }
  opens.join();
  EXPECT_EQ(stream.words(x, kCount), Words(kCount, expected));
}

TEST_P(VulkanPipelines, DeviceMayBeClosedWhilePipelinesAreBeingCreated) {
  std::vector<std::unique_ptr<StepKernel>> kernels;
  for (uint32_t i = 0; i < 20; ++i) {
    kernels.push_back(std::make_unique<StepKernel>(bench().device(), i));
  }
  kernels.clear();
  close();
}

INSTANTIATE_TEST_SUITE_P(, VulkanPipelines,
                         ::testing::Values(Settings{}, Settings{{"visible", "0"}},
                                           Settings{{"validate", "1"}}),
                         [](const auto& info) {
                           if (info.param.empty()) return "AsItIs";
                           return info.param.begin()->first == "visible" ? "Hidden" : "Validated";
                         });

}  // namespace
}  // namespace tenon_vulkan::testing
