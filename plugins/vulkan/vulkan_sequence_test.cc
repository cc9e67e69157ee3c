// Tests of sequences: in recordings that are replayed often, small dispatches are coalesced, with
// the same results. Dispatches that cannot be coalesced are encoded separately.

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/spirv/code.h"
#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {
namespace {

std::atomic<int> n_refused{0};  // Number of pipelines that the driver refused to create.

VKAPI_ATTR VkResult VKAPI_CALL makes_no_pipeline(VkDevice, VkPipelineCache, uint32_t,
                                                 const VkComputePipelineCreateInfo*,
                                                 const VkAllocationCallbacks*, VkPipeline*) {
  ++n_refused;
  return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

// During the lifetime of an object of this class, the driver creates pipelines only after it has
// received a dispatch, and completes that dispatch only after it has created a pipeline. So a
// pipeline that was requested earlier is created while the dispatch is recorded.
class MakesWithFirstDispatch {
 public:
  explicit MakesWithFirstDispatch(DeviceFunctions& functions) : functions_(functions) {
    n_dispatched_ = n_made_ = 0;
    create_ = std::exchange(functions.CreateComputePipelines, create);
    dispatch_ = std::exchange(functions.CmdDispatch, dispatch);
  }
  MakesWithFirstDispatch(const MakesWithFirstDispatch&) = delete;
  MakesWithFirstDispatch& operator=(const MakesWithFirstDispatch&) = delete;
  ~MakesWithFirstDispatch() {
    functions_.CreateComputePipelines = create_;
    functions_.CmdDispatch = dispatch_;
  }
  static int n_made() { return n_made_; }

 private:
  static VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice device, VkPipelineCache cache, uint32_t n,
                                               const VkComputePipelineCreateInfo* infos,
                                               const VkAllocationCallbacks* callbacks,
                                               VkPipeline* made) {
    wait_for(n_dispatched_);
    const VkResult result = create_(device, cache, n, infos, callbacks, made);
    ++n_made_;
    return result;
  }
  static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                             uint32_t z) {
    ++n_dispatched_;
    wait_for(n_made_);
    // Waits until the thread that created the pipeline has probably published it.
    if (n_dispatched_ == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    dispatch_(commands, x, y, z);
  }
  static void wait_for(const std::atomic<int>& count) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (count == 0 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    EXPECT_GT(count, 0);
  }

  static inline std::atomic<int> n_dispatched_, n_made_;
  static inline PFN_vkCreateComputePipelines create_;
  static inline PFN_vkCmdDispatch dispatch_;
  DeviceFunctions& functions_;
};

// Computes to[i] = factor * from[n - 1 - i] + value for words. In a chain, each invocation reads a
// word that another invocation wrote.
class TurnKernel final : public Kernel {
 public:
  TurnKernel(tenon_device_p* device, uint32_t factor, uint64_t iterations, bool knows_n = true)
      : factor_(factor), iterations_(iterations), knows_n_(knows_n) {
    spirv::Code code(capabilities_of(device), {.n_operands = 3, .local_size = kLocalSize});
    const spirv::Memory from = code.operand(0), value = code.operand(1), to = code.operand(2);
    const spirv::U32 n = code.parameter(0u), first = code.operand_offset(0) >> 2,
                     last = code.operand_offset(2) >> 2;
    const spirv::U32 added = value.load(code.operand_offset(1) >> 2);
    code.for_each(n, [&](spirv::U32 i) {
      to.store(last + i, from.load(first + (n - 1 - i)) * factor + added);
    });
    EXPECT_SUCCESS(make_pipeline(device, code.finish(), 3, &pipeline_));
  }
  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const Operand operands[] = {operand_of(launch, 0), operand_of(launch, 1),
                                operand_of(launch, 2)};
    const auto n = static_cast<uint32_t>(launch.outputs[0].sizes[0]);
    return encoder.dispatch({.pipeline = pipeline_.get(),
                             .operands = operands,
                             .words = {&n, 1},
                             .groups = {(n + kLocalSize - 1) / kLocalSize, 1, 1},
                             .iterations = iterations_,
                             .n = knows_n_ ? n : 0});
  }
  tenon_kernel_p* handle() { return tenon_sdk::to_c(this); }
  uint32_t factor() const { return factor_; }

 private:
  const uint32_t factor_;
  const uint64_t iterations_;
  const bool knows_n_;
  PipelineRef pipeline_;
};

constexpr uint64_t kBytes = 4096;

// A recording of a chain of launches over `n` words. The first reads slot 0 and writes slot 1; the
// following ones copy alternately from slot 1 to slot 2 and back. Each adds value 0 or a constant
// in memory.
class Chain {
 public:
  Chain(const TestDevice& bench, const std::vector<TurnKernel*>& kernels, int64_t n)
      : n_(n), kernels_(kernels), constant_(bench, kBytes), own_(bench, 3 * kBytes) {
    const uint32_t value = 0;
    std::vector<std::unique_ptr<AddLaunch>> launches;
    std::vector<std::array<tenon_recorded_operand, 3>> operands;
    std::vector<tenon_recorded_launch> recorded;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const AddLaunch::Place by_value = {nullptr, 0, 1, &value}, fixed = {&constant_, 0, 1};
      launches.push_back(std::make_unique<AddLaunch>(
          AddLaunch::Place{&own_, kBytes * slot_of(i), n}, adds_value(i) ? by_value : fixed,
          AddLaunch::Place{&own_, kBytes * slot_of(i + 1), n}));
      operands.push_back({{{TENON_OPERAND_IN_SLOT, slot_of(i), 0},
                           {adds_value(i) ? TENON_OPERAND_BY_VALUE : TENON_OPERAND_FIXED, 0, 0},
                           {TENON_OPERAND_IN_SLOT, slot_of(i + 1), 0}}});
    }
    for (size_t i = 0; i < kernels.size(); ++i) {
      recorded.push_back({kernels[i]->handle(), &launches[i]->get(), operands[i].data(), 3});
    }
    const tenon_record_request request = {sizeof request, 0, recorded.size(), 3, 1,
                                          recorded.data()};
    tenon_string reason = {};
    EXPECT_SUCCESS(TestDevice::calls().record(bench.device(), &request, &handle_, &reason));
  }
  Chain(const Chain&) = delete;
  ~Chain() { TestDevice::calls().release_recording(handle_); }

  // Replays with all slots moved by `offset` bytes, in `memory` or in the chain's own memory, and
  // checks the result.
  void replay(const Queue& stream, uint32_t value, uint64_t offset = 0,
              const Memory* memory = nullptr) {
    const Memory& all = memory == nullptr ? own_ : *memory;
    Words words(static_cast<size_t>(n_));
    for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint32_t>(i * 977) + value;
    stream.write(all, offset, words.data(), words.size() * sizeof(uint32_t));
    tenon_slot slots[3];
    for (uint32_t i = 0; i < 3; ++i) slots[i] = {all.get(), kBytes * i + offset, nullptr, 0};
    const tenon_element values[] = {{{value, 0}}};
    const tenon_replay replay = {.struct_size = sizeof replay,
                                 .n_slots = 3,
                                 .n_values = 1,
                                 .slots = slots,
                                 .values = values,
                                 .work = this,
                                 .ticket = 1};
    EXPECT_SUCCESS(TestDevice::calls().replay(handle_, stream.get(), &replay));
    Words got(words.size());
    stream.read(all, kBytes * slot_of(kernels_.size()) + offset, got.data(),
                got.size() * sizeof(uint32_t));
    stream.wait();
    for (size_t i = 0; i < kernels_.size(); ++i) {
      std::reverse(words.begin(), words.end());
      for (uint32_t& word : words) {
        word = word * kernels_[i]->factor() + (adds_value(i) ? value : kConstant);
      }
    }
    ASSERT_EQ(got, words);
  }

  void write_constant(const Queue& stream) const { stream.write(constant_, {kConstant}); }

 private:
  static constexpr uint32_t kConstant = 12345;
  static bool adds_value(size_t i) { return i % 20 < 10; }
  static uint32_t slot_of(size_t i) { return i == 0 ? 0 : 2 - i % 2; }

  const int64_t n_;
  const std::vector<TurnKernel*> kernels_;
  const Memory constant_, own_;
  tenon_recording_p* handle_ = nullptr;
};

class VulkanSequence : public CountsDispatches {
 protected:
  // Returns `n` small launches. The first half run one kernel, the second half a different kernel.
  std::vector<TurnKernel*> many(size_t n) {
    std::vector<TurnKernel*> all(n, &make(3, kFew));
    std::fill(all.begin() + static_cast<ptrdiff_t>(n / 2), all.end(), &make(5, kFew));
    return all;
  }
  TurnKernel& make(uint32_t factor, uint64_t iterations, bool knows_n = true) {
    kernels_.push_back(std::make_unique<TurnKernel>(bench().device(), factor, iterations, knows_n));
    return *kernels_.back();
  }
  void TearDown() override {
    kernels_.clear();
    OnDriver::TearDown();
  }
  static constexpr uint64_t kFew = 8;

 private:
  std::vector<std::unique_ptr<TurnKernel>> kernels_;
};

TEST_P(VulkanSequence, SmallDispatchesAreCoalescedAfterManyReplays) {
  const Queue stream(bench());
  Chain chain(bench(), many(40), 50);
  chain.write_constant(stream);
  for (uint32_t i = 0; i < 40; ++i) chain.replay(stream, i);
  EXPECT_EQ(n_dispatches, 40);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (uint32_t i = 0; n_dispatches == 40 && std::chrono::steady_clock::now() < limit; ++i) {
    chain.replay(stream, i, 64 * (i % 3));
  }
  for (uint32_t i = 0; i < 40; ++i) chain.replay(stream, i, 64 * (i % 5));
  EXPECT_EQ(n_dispatches, 41);
}

TEST_P(VulkanSequence, DispatchesAreNotCoalescedIfThePipelineCannotBeCreated) {
  const Queue stream(bench());
  Chain chain(bench(), many(40), 50);
  chain.write_constant(stream);
  chain.replay(stream, 1);
  n_refused = 0;
  const auto create = std::exchange(functions().CreateComputePipelines, makes_no_pipeline);
  for (uint32_t i = 0; i < 300; ++i) chain.replay(stream, i);
  EXPECT_EQ(n_dispatches, 40);
  EXPECT_GT(n_refused, 0);
  functions().CreateComputePipelines = create;
}

TEST_P(VulkanSequence, DispatchesAreNotCoalescedIfCommandsCannotBeCached) {
  const Queue stream(bench());
  Chain chain(bench(), many(40), 50);
  chain.write_constant(stream);
  chain.replay(stream, 1);
  const NoCommandPools none(functions());
  for (uint32_t i = 0; i < 300; ++i) chain.replay(stream, i);
  EXPECT_EQ(n_dispatches, 40);
  EXPECT_EQ(none.n_refused(), 1);
}

// The same sequence occurs before and after large dispatches. Its pipeline is created while the
// large dispatches are encoded.
TEST_P(VulkanSequence, CommandsThatLackASequenceAreDiscarded) {
  const Queue stream(bench());
  std::vector<TurnKernel*> kernels(60, &make(3, kFew));
  std::fill(kernels.begin() + 20, kernels.begin() + 40, &make(7, 0));
  Chain chain(bench(), kernels, 50);
  chain.write_constant(stream);
  chain.replay(stream, 1);
  EXPECT_EQ(n_dispatches, 60);
  const MakesWithFirstDispatch makes(functions());
  for (uint32_t i = 0; i < 120; ++i) chain.replay(stream, i);
  EXPECT_EQ(makes.n_made(), 1);
  // The first encoding lacks the first sequence and is discarded. The second has both sequences.
  EXPECT_GE(n_dispatches, 60 + 20 + 22);
}

// Tests with option `sequences`, which coalesces dispatches from a recording's first replay on.
class VulkanSequenceAtOnce : public VulkanSequence {};

TEST_P(VulkanSequenceAtOnce, CoalescesLaunchesOfAnySmallSize) {
  const Queue stream(bench());
  for (const int64_t n : {1, 2, 3, 4, 7, 8, 9, 31, 32, 33, 63, 64, 65, 200, 256, 257}) {
    SCOPED_TRACE(n);
    n_dispatches = 0;
    Chain chain(bench(), many(12), n);
    chain.write_constant(stream);
    for (uint32_t i = 0; i < 3; ++i) chain.replay(stream, i, 128 * i);
    EXPECT_EQ(n_dispatches, n <= 256 ? 1 : 12);
  }
}

TEST_P(VulkanSequenceAtOnce, LargeDispatchesAreNotCoalesced) {
  const Queue stream(bench());
  TurnKernel& small = make(3, kFew);
  TurnKernel &unknown = make(7, 0), &wide = make(11, kFew, false), &deep = make(13, 10000);
  Chain chain(bench(), {&small, &small, &unknown, &small, &small, &wide, &deep, &deep, &small}, 70);
  chain.write_constant(stream);
  for (uint32_t i = 0; i < 3; ++i) chain.replay(stream, i);
  // The dispatches are: a sequence of two small ones, the one with an unknown cost, a sequence of
  // two small ones, the wide one, the first deep one, and a sequence of the second deep one and the
  // last small one.
  EXPECT_EQ(n_dispatches, 6);
}

// There are more shaders than may be merged into one.
TEST_P(VulkanSequenceAtOnce, SequenceIsSplitIfItsShaderWouldBeTooLong) {
  const Queue stream(bench());
  std::vector<TurnKernel*> kernels;
  for (uint32_t i = 0; i < 80; ++i) kernels.push_back(&make(2 * i + 1, kFew));
  Chain chain(bench(), kernels, 50);
  chain.write_constant(stream);
  for (uint32_t i = 0; i < 3; ++i) chain.replay(stream, i);
  EXPECT_GT(n_dispatches, 1);
  EXPECT_LT(n_dispatches, 20);
}

TEST_P(VulkanSequenceAtOnce, DispatchesWithSlotsInDifferentBlocksAreCoalesced) {
  constexpr uint64_t kBlock = uint64_t{65} << 20;
  const Queue stream(bench());
  Chain chain(bench(), many(12), 50);
  chain.write_constant(stream);
  const Memory first(bench(), kBlock), second(bench(), kBlock);
  for (uint32_t i = 0; i < 6; ++i) chain.replay(stream, i, 64 * i, i % 2 ? &first : &second);
  EXPECT_EQ(n_dispatches, 2);
}

INSTANTIATE_TEST_SUITE_P(, VulkanSequence,
                         ::testing::Values(Settings{}, Settings{{"visible", "0"}},
                                           Settings{{"validate", "1"}}),
                         name_of_settings);
INSTANTIATE_TEST_SUITE_P(, VulkanSequenceAtOnce,
                         ::testing::Values(Settings{{"sequences", "1"}},
                                           Settings{{"sequences", "1"}, {"visible", "0"}},
                                           Settings{{"sequences", "1"}, {"validate", "1"}}),
                         name_of_settings);

}  // namespace
}  // namespace tenon_vulkan::testing
