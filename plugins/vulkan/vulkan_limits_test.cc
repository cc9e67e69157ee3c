// Tests of the limits of shaders: launches that exceed a limit fail or are computed in parts.

#include <gtest/gtest.h>

#include <algorithm>

#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {
namespace {

tenon_launch launch_of(std::span<const tenon_view> inputs, const tenon_view& output) {
  tenon_launch launch = {};
  launch.struct_size = sizeof launch;
  launch.n_inputs = static_cast<uint32_t>(inputs.size());
  launch.n_outputs = 1;
  launch.inputs = inputs.data();
  launch.outputs = &output;
  return launch;
}

// Launches whose inputs are single broadcast elements. Their axes have more elements than
// memory could hold.
class VulkanBroadcast : public ::testing::Test {
 protected:
  using Sizes = std::vector<int64_t>;
  struct Given {
    tenon_dtype dtype;
    Sizes sizes;
  };

  void SetUp() override {
    if (!bench_.is_open()) GTEST_SKIP() << bench_.failure().message;
  }

  // Runs an op. Input i is broadcast from word 2 * i. At most one axis of the result may have a
  // size other than 1.
  Failure run(uint32_t op, const void* attrs, const std::vector<Given>& inputs, const Given& output,
              const Memory& memory, const Memory& result) const {
    static constexpr std::array<int64_t, TENON_MAX_RANK> kZeros = {};
    static constexpr std::array<int64_t, TENON_MAX_RANK> kOnes = {1, 1, 1, 1, 1, 1, 1, 1};
    const auto view_of = [](const Memory& in, const Given& given, const int64_t* strides) {
      tenon_view view = {};
      view.buffer = in.get();
      view.dtype = given.dtype;
      view.rank = static_cast<uint16_t>(given.sizes.size());
      view.sizes = given.sizes.data();
      view.strides = strides;
      return view;
    };
    std::vector<tenon_view> views;
    std::vector<tenon_operand> operands;
    for (const Given& input : inputs) {
      views.push_back(view_of(memory, input, kZeros.data()));
      views.back().byte_offset = 8 * (views.size() - 1);
      views.back().strides_class = TENON_STRIDES_STRIDED;
      operands.push_back({input.dtype, views.back().rank, TENON_STRIDES_STRIDED, nullptr, 0});
    }
    tenon_view out = view_of(result, output, kOnes.data());
    out.strides_class = TENON_STRIDES_DENSE;
    const PreparedKernel kernel(bench_, op, attrs, operands,
                                {output.dtype, out.rank, TENON_STRIDES_DENSE, nullptr, 0});
    EXPECT_NE(kernel.handle(), nullptr);
    if (kernel.handle() == nullptr) return {};
    const tenon_launch launch = launch_of(views, out);
    return take(TestDevice::calls().launch(kernel.handle(), queue_.get(), &launch));
  }

  const TestDevice bench_{Settings{{"cache", ""}, {"gpu_ways", "1"}}};
  const Queue queue_{bench_};
};

// Shaders count elements with 32 bits.
TEST_F(VulkanBroadcast, MoreElementsThanShadersCanCountAreUnimplemented) {
  const tenon_sum_attrs attrs = TENON_SUM_ATTRS_DEFAULT;
  const Memory memory(bench_, 4), result(bench_, 4);
  const Failure failure = run(TENON_OP_sum, &attrs, {{TENON_FLOAT32, {1 << 16, 1 << 16}}},
                              {TENON_FLOAT32, {}}, memory, result);
  EXPECT_EQ(failure.code, TENON_UNIMPLEMENTED);
  EXPECT_NE(failure.message.find("4294967296 elements"), std::string::npos) << failure.message;
}

TEST_F(VulkanBroadcast, AxesLongerThanShadersCanCountAreUnimplemented) {
  const tenon_gather_attrs attrs = TENON_GATHER_ATTRS_DEFAULT;
  const Memory memory(bench_, 16), result(bench_, 4);
  const Failure failure =
      run(TENON_OP_gather, &attrs, {{TENON_FLOAT32, {int64_t{1} << 32}}, {TENON_INT64, {1}}},
          {TENON_FLOAT32, {1}}, memory, result);
  EXPECT_EQ(failure.code, TENON_UNIMPLEMENTED);
  EXPECT_NE(failure.message.find("4294967296 elements"), std::string::npos) << failure.message;
}

TEST_F(VulkanBroadcast, SearchsortedSupportsSequencesOfMoreThan2To31Elements) {
  constexpr int64_t kMany = 3'000'000'000;
  const tenon_searchsorted_attrs attrs = TENON_SEARCHSORTED_ATTRS_DEFAULT;
  const Memory memory(bench_, 16), result(bench_, 8);
  const Words zero_and_one = {0, 0, 0x3f800000, 0};
  queue_.write(memory, zero_and_one);
  const Failure failure =
      run(TENON_OP_searchsorted, &attrs, {{TENON_FLOAT32, {kMany}}, {TENON_FLOAT32, {1}}},
          {TENON_INT64, {1}}, memory, result);
  EXPECT_EQ(failure.code, TENON_OK) << failure.message;
  EXPECT_EQ(queue_.words(result, 2), (Words{static_cast<uint32_t>(kMany), 0}));
}

// Positions of taps are signed 32-bit integers.
TEST_F(VulkanBroadcast, PoolingOfAxesLongerThan2To31IsUnimplemented) {
  const int64_t kernel = 1, stride = 1 << 28;
  tenon_max_pool_attrs attrs = TENON_MAX_POOL_ATTRS_DEFAULT;
  attrs.kernel_shape = &kernel;
  attrs.strides = &stride;
  attrs.n_kernel_shape = attrs.n_strides = 1;
  const Memory memory(bench_, 16), result(bench_, 12);
  const Failure failure = run(TENON_OP_max_pool, &attrs, {{TENON_INT8, {1, 1, 3'000'000'000}}},
                              {TENON_INT8, {1, 1, 12}}, memory, result);
  EXPECT_EQ(failure.code, TENON_UNIMPLEMENTED);
  EXPECT_NE(failure.message.find("more elements"), std::string::npos) << failure.message;
}

TEST_F(VulkanBroadcast, SumsOfMoreTermsThanAShaderCanCountAreUnimplemented) {
  const tenon_conv_attrs attrs = TENON_CONV_ATTRS_DEFAULT;
  const Memory memory(bench_, 16), result(bench_, 4);
  const Given factor = {TENON_FLOAT32, {1, 1 << 16, 1 << 16}};
  const Failure failure =
      run(TENON_OP_conv, &attrs, {factor, factor}, {TENON_FLOAT32, {1, 1, 1}}, memory, result);
  EXPECT_EQ(failure.code, TENON_UNIMPLEMENTED);
  EXPECT_NE(failure.message.find("4294967296 elements"), std::string::npos) << failure.message;
}

TEST_F(VulkanBroadcast, ScatterOfMoreUpdatesThanShadersCanCountIsUnimplemented) {
  tenon_scatter_nd_attrs attrs = TENON_SCATTER_ND_ATTRS_DEFAULT;
  attrs.reduction = TENON_SCATTER_REDUCTION_ADD;
  const Memory memory(bench_, 24), result(bench_, 4);
  const Failure failure = run(TENON_OP_scatter_nd, &attrs,
                              {{TENON_FLOAT32, {1}},
                               {TENON_INT64, {1 << 16, 1 << 16, 1}},
                               {TENON_FLOAT32, {1 << 16, 1 << 16}}},
                              {TENON_FLOAT32, {1}}, memory, result);
  EXPECT_EQ(failure.code, TENON_UNIMPLEMENTED);
  EXPECT_NE(failure.message.find("4294967296 elements"), std::string::npos) << failure.message;
}

// ---- the minimum limits of Vulkan

// Vulkan guarantees four storage buffers. Binding 0 is the parameters, so three operands are left.
TEST(VulkanLimits, KernelsWithMoreOperandsThanADeviceCanBindAreRefused) {
  const TestDevice bench(Settings{{"cache", ""}, {"minimum", "1"}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const tenon_operand x = {TENON_FLOAT32, 2, TENON_STRIDES_DENSE, nullptr, 0};
  const tenon_operand inputs[] = {x, x, x};
  const PreparedKernel add(bench, TENON_OP_add, nullptr, {inputs, 2}, x);
  EXPECT_NE(add.handle(), nullptr);
  const PreparedKernel fma(bench, TENON_OP_fma, nullptr, inputs, x);
  EXPECT_EQ(fma.handle(), nullptr);
  const tenon_gemm_attrs attrs = TENON_GEMM_ATTRS_DEFAULT;
  const PreparedKernel gemm(bench, TENON_OP_gemm, &attrs, inputs, x);
  EXPECT_EQ(gemm.handle(), nullptr);
  const PreparedKernel without_c(bench, TENON_OP_gemm, &attrs, {inputs, 2}, x);
  EXPECT_NE(without_c.handle(), nullptr);
}

// ---- the driver's budget

// Reports a budget of 10 MiB in each heap, of which this process has used 7 MiB.
void VKAPI_CALL leaves_three_mib(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties2* memory) {
  auto& budget = *static_cast<VkPhysicalDeviceMemoryBudgetPropertiesEXT*>(memory->pNext);
  EXPECT_EQ(budget.sType, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
  std::fill_n(budget.heapBudget, VK_MAX_MEMORY_HEAPS, 10 << 20);
  std::fill_n(budget.heapUsage, VK_MAX_MEMORY_HEAPS, 7 << 20);
}

TEST(VulkanLimits, AllocationsAreLimitedToTheRemainingBudget) {
  const TestDevice bench(Settings{{"cache", ""}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const Driver& driver = from_c(bench.device()).driver();
  const_cast<OptionalFeatures&>(driver.physical().offers).memory_budget = true;
  const_cast<InstanceFunctions&>(driver.instance().vk()).GetPhysicalDeviceMemoryProperties2 =
      leaves_three_mib;
  // The buffer gets a separate block, because a shared block exceeds the budget.
  const Memory small(bench, 2 << 20);
  tenon_buffer_p* large = nullptr;
  const Failure failure = take(TestDevice::calls().allocate(bench.device(), 4 << 20, &large));
  EXPECT_EQ(failure.code, TENON_OUT_OF_MEMORY);
  EXPECT_NE(
      failure.message.find("4194304 bytes: the driver's memory budget has only 3145728 bytes left"),
      std::string::npos)
      << failure.message;
}

TEST(VulkanLimits, MemoryBudgetIsReadFromTheDriver) {
  const TestDevice bench(Settings{{"cache", ""}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const auto& device = from_c(bench.device());
  if (!device.driver().physical().offers.memory_budget) GTEST_SKIP() << "it has none";
  const MemoryTypes& types = device.memory_types();
  const uint64_t before = remaining_budget_bytes(device.driver(), types.device);
  EXPECT_LE(before, types.device_bytes);
  const Memory large(bench, uint64_t{256} << 20);
  EXPECT_LT(remaining_budget_bytes(device.driver(), types.device), before);
}

// ---- operands larger than a binding: 128 MiB on lavapipe

class VulkanLargeLoops : public ::testing::Test {
 protected:
  struct Input {
    const Memory& memory;
    std::vector<int64_t> strides;  // Empty if the operand is dense.
  };

  void SetUp() override {
    if (!bench_.is_open()) GTEST_SKIP() << bench_.failure().message;
    if (seen() > uint64_t{1} << 28) GTEST_SKIP() << "there is not so much memory here";
  }
  const TestDevice& bench() const { return bench_; }
  uint64_t seen() const { return capabilities_of(bench_.device()).max_operand_bytes; }

  // Computes an elementwise op on int8 operands and returns the memory with its result.
  std::unique_ptr<Memory> computed(uint32_t op, const std::vector<int64_t>& sizes,
                                   const std::vector<Input>& inputs) const {
    std::vector<int64_t> dense(sizes.size());
    int64_t n = 1;
    for (size_t axis = sizes.size(); axis-- > 0; n *= sizes[axis]) dense[axis] = n;
    const auto view_of = [&](const Memory& memory, const std::vector<int64_t>& strides) {
      tenon_view view = {};
      view.buffer = memory.get();
      view.dtype = TENON_INT8;
      view.rank = static_cast<uint16_t>(sizes.size());
      view.sizes = sizes.data();
      view.strides = strides.empty() ? dense.data() : strides.data();
      view.strides_class = strides.empty() ? TENON_STRIDES_DENSE : TENON_STRIDES_STRIDED;
      return view;
    };
    const auto operand_of = [](const tenon_view& view) {
      tenon_operand operand = {};
      operand.dtype = view.dtype;
      operand.rank = view.rank;
      operand.strides = view.strides_class;
      return operand;
    };
    auto result = std::make_unique<Memory>(bench_, static_cast<uint64_t>(n));
    const tenon_view output = view_of(*result, {});
    std::vector<tenon_view> views;
    std::vector<tenon_operand> operands;
    for (const Input& input : inputs) {
      views.push_back(view_of(input.memory, input.strides));
      operands.push_back(operand_of(views.back()));
    }
    const PreparedKernel kernel(bench_, op, nullptr, operands, operand_of(output));
    EXPECT_NE(kernel.handle(), nullptr);
    if (kernel.handle() == nullptr) return result;
    const tenon_launch launch = launch_of(views, output);
    EXPECT_SUCCESS(TestDevice::calls().launch(kernel.handle(), queue_.get(), &launch));
    return result;
  }

  Bytes drawn(uint64_t n) const {
    Bytes numbers(n);
    for (uint64_t i = 0; i < n; ++i) numbers[i] = static_cast<uint8_t>(i * 7 + (i >> 20));
    return numbers;
  }
  const Queue& queue() const { return queue_; }

 private:
  const TestDevice bench_{Settings{{"cache", ""}}};
  const Queue queue_{bench_};
};

TEST_F(VulkanLargeLoops, LoopIsSplitIfDenseOperandsExceedABinding) {
  const uint64_t n = seen() + 100001;
  const Memory memory(bench(), n);
  const Bytes numbers = drawn(n);
  queue().write(memory, 0, numbers.data(), n);
  const auto result = computed(TENON_OP_neg, {static_cast<int64_t>(n)}, {{memory, {}}});
  const Bytes negated = queue().bytes(*result, n);
  uint64_t n_wrong = 0;
  for (uint64_t i = 0; i < n; ++i) n_wrong += static_cast<uint8_t>(negated[i] + numbers[i]) != 0;
  EXPECT_EQ(n_wrong, 0u);
}

// Even a single strided row exceeds a binding.
TEST_F(VulkanLargeLoops, LoopIsSplitIfStridedOperandsExceedABinding) {
  constexpr uint64_t kRows = 3;
  const uint64_t n_columns = seen() / kRows + 50001, n = kRows * n_columns;
  const auto columns = static_cast<int64_t>(n_columns);
  const Memory memory(bench(), n);
  const Bytes numbers = drawn(n);
  queue().write(memory, 0, numbers.data(), n);

  const auto with_row = computed(TENON_OP_add, {kRows, columns}, {{memory, {}}, {memory, {0, 1}}});
  const Bytes sums = queue().bytes(*with_row, n);
  uint64_t n_wrong = 0;
  for (uint64_t i = 0; i < n; ++i) {
    n_wrong += sums[i] != static_cast<uint8_t>(numbers[i] + numbers[i % n_columns]);
  }
  EXPECT_EQ(n_wrong, 0u);

  const auto transposed = computed(TENON_OP_neg, {kRows, columns}, {{memory, {1, kRows}}});
  const Bytes negated = queue().bytes(*transposed, n);
  n_wrong = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const uint8_t number = numbers[i % n_columns * kRows + i / n_columns];
    n_wrong += static_cast<uint8_t>(negated[i] + number) != 0;
  }
  EXPECT_EQ(n_wrong, 0u);
}

}  // namespace
}  // namespace tenon_vulkan::testing
