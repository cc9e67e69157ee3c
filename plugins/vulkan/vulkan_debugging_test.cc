// Tests of debugging aids: timestamps, names of objects and labels of dispatches. The tests of
// timestamps run with the same settings as those of streams (vulkan_stream_test.cc).

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {
namespace {

constexpr uint64_t kBytes = 1 << 20;

// ---- times

class VulkanClock : public OnDriver {
 protected:
  void SetUp() override {
    OnDriver::SetUp();
    if (IsSkipped()) return;
    if (!from_c(bench().device()).clock().is_supported()) GTEST_SKIP() << "it has no clock";
  }

  static uint64_t mark(const Queue& stream) {
    uint64_t made = 0;
    EXPECT_SUCCESS(calls().mark_time(stream.get(), &made));
    return made;
  }
  static uint64_t read(const Queue& stream, uint64_t mark) {
    uint64_t ns = 0;
    EXPECT_SUCCESS(calls().read_time(stream.get(), mark, &ns));
    return ns;
  }
};

TEST_P(VulkanClock, MeasuresTheTimeOfALaunch) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  const Memory a(bench(), kBytes), b(bench(), kBytes);
  stream.fill(a, 0, kBytes, 1, 4);
  stream.fill(b, 0, kBytes, 2, 4);
  stream.wait();
  constexpr int64_t kN = kBytes / 4;
  AddLaunch launch({&a, 0, kN}, {&b, 0, kN}, {&b, 0, kN});
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const uint64_t before = mark(stream);
    EXPECT_SUCCESS(calls().launch(add.handle(), stream.get(), &launch.get()));
    const uint64_t behind = mark(stream);
    stream.wait();
    const auto host = std::chrono::steady_clock::now() - start;
    const uint64_t ns = read(stream, behind) - read(stream, before);
    EXPECT_GT(ns, 0u);
    EXPECT_LE(ns, static_cast<uint64_t>(std::chrono::nanoseconds(host).count()));
  }
  EXPECT_EQ(stream.words(b, 2), (Words{5, 5}));
}

// Time marks delay submission, so that the device receives the work between two marks as a whole. A
// caller that waits must still get all results.
TEST_P(VulkanClock, WaitingSubmitsABatchWithTimeMarks) {
  const Queue stream(bench()), other(bench());
  const Memory data(bench(), kBytes);
  const uint64_t first = mark(stream);
  for (int i = 0; i < 200; ++i) stream.fill(data, 0, kBytes, static_cast<uint64_t>(i), 4);
  mark(stream);
  tenon_event_p* event = nullptr;
  EXPECT_SUCCESS(calls().record_event(stream.get(), &event));
  EXPECT_SUCCESS(calls().wait_event(other.get(), event));
  const uint64_t last = mark(other);
  EXPECT_EQ(other.words(data, 1), (Words{199}));
  EXPECT_GT(read(other, last), read(stream, first));
  calls().release_event(event);
}

TEST_P(VulkanClock, TimeMarksNeedNotBeRead) {
  const Queue stream(bench());
  std::vector<uint64_t> marks;
  for (int i = 0; i < 1000; ++i) marks.push_back(mark(stream));
  EXPECT_EQ(std::set(marks.begin(), marks.end()).size(), marks.size());
  stream.wait();
  uint64_t last = 0;
  for (const uint64_t each : marks) {
    const uint64_t ns = read(stream, each);
    EXPECT_GE(ns, last);
    last = ns;
  }
  const uint64_t again = mark(stream);  // This mark reuses the number of an earlier mark.
  EXPECT_NE(std::find(marks.begin(), marks.end(), again), marks.end());
}

TEST_P(VulkanClock, ReadingAnUnknownTimeMarkIsAnError) {
  const Queue stream(bench());
  const uint64_t made = mark(stream);
  stream.wait();
  read(stream, made);
  uint64_t ns = 1;
  EXPECT_EQ(take(calls().read_time(stream.get(), made, &ns)).code, TENON_INVALID_ARGUMENT);
  EXPECT_EQ(take(calls().read_time(stream.get(), 12345, &ns)).code, TENON_INVALID_ARGUMENT);
  EXPECT_EQ(ns, 0u);
}

TEST_P(VulkanClock, TimeMarksCanBeReadByOtherThreadsWhileTheStreamIsUsed) {
  const Queue stream(bench());
  const Memory data(bench(), kBytes);
  std::vector<uint64_t> marks;
  for (int i = 0; i < 300; ++i) marks.push_back(mark(stream));
  stream.wait();
  std::thread reader([&] {
    for (const uint64_t each : marks) read(stream, each);
  });
  for (int i = 0; i < 300; ++i) {
    mark(stream);
    stream.fill(data, 0, kBytes, 1, 4);
  }
  reader.join();
  stream.wait();
}

INSTANTIATE_TEST_SUITE_P(, VulkanClock,
                         ::testing::Values(Settings{}, Settings{{"visible", "0"}},
                                           Settings{{"timeline", "0"}},
                                           Settings{{"visible", "0"}, {"validate", "1"}}),
                         name_of_settings);

TEST(VulkanClocks, TimeMarksAreUnimplementedIfTheQueueHasNoTimestamps) {
  const TestDevice bench(Settings{{"clock", "0"}, {"cache", ""}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const Queue stream(bench);
  uint64_t mark = 1;
  const Failure failure = take(TestDevice::calls().mark_time(stream.get(), &mark));
  EXPECT_EQ(failure.code, TENON_UNIMPLEMENTED) << failure.message;
  EXPECT_EQ(mark, 0u);
}

TEST(VulkanClocks, TicksAreConvertedToNanoseconds) {
  Clock clock(64, 83.25f);
  EXPECT_EQ(clock.ns_of(4), 333u);
  EXPECT_EQ(clock.ns_of(uint64_t{1} << 50), (uint64_t{1} << 50) / 4 * 333);
  // This timestamp is much less than the last one, so the counter wrapped around.
  EXPECT_EQ(clock.ns_of(8), 666u);
}

TEST(VulkanClocks, TimeIncreasesWhenTheCounterWrapsAround) {
  constexpr uint64_t kAll = uint64_t{1} << 36;
  Clock clock(36, 1.0f);
  EXPECT_EQ(clock.ns_of(kAll - 10), kAll - 10);
  EXPECT_EQ(clock.ns_of(5), kAll + 5);
  EXPECT_EQ(clock.ns_of(kAll - 1), kAll - 1);  // This mark is read after a later one.
  EXPECT_EQ(clock.ns_of(kAll / 2), kAll + kAll / 2);
  EXPECT_EQ(clock.ns_of(1), 2 * kAll + 1);
}

// ---- names

// Data that the driver received: names of objects by type, and labels in order.
struct Recorded {
  std::multimap<VkObjectType, std::string> names;
  std::vector<std::string> labels;
  int depth = 0;

  bool has(VkObjectType type, const std::string& part) const {
    const auto [first, last] = names.equal_range(type);
    return std::any_of(
        first, last, [&](const auto& each) { return each.second.find(part) != std::string::npos; });
  }
};
Recorded told;

VKAPI_ATTR VkResult VKAPI_CALL take_name(VkDevice, const VkDebugUtilsObjectNameInfoEXT* info) {
  told.names.emplace(info->objectType, info->pObjectName);
  return VK_SUCCESS;
}
VKAPI_ATTR void VKAPI_CALL begin_label(VkCommandBuffer, const VkDebugUtilsLabelEXT* label) {
  told.labels.emplace_back(label->pLabelName);
  ++told.depth;
}
VKAPI_ATTR void VKAPI_CALL end_label(VkCommandBuffer) { --told.depth; }

// Returns the plugin's first kernel entry for an op.
const tenon_kernel& line_of(uint32_t op) {
  const tenon_plugin& plugin = TestDevice::plugin();
  return *std::find_if(plugin.kernels, plugin.kernels + plugin.n_kernels,
                       [&](const tenon_kernel& each) { return each.op == op; });
}

class TellsNames : public OnDriver {
 protected:
  void listen() {
    told = {};
    functions().SetDebugUtilsObjectNameEXT = take_name;
    functions().CmdBeginDebugUtilsLabelEXT = begin_label;
    functions().CmdEndDebugUtilsLabelEXT = end_label;
  }

  // Runs add(x, x) or, if `as_loop`, the loop mul(add(x, x), x).
  void run(bool as_loop) {
    const Queue stream(bench());
    const Memory x(bench(), 4096), y(bench(), 4096);
    stream.write(x, Words(100, 3));
    int64_t sizes[] = {100};
    const tenon_operand operand = {
        .dtype = TENON_UINT32, .rank = 1, .strides = TENON_STRIDES_DENSE, .sizes = sizes};
    const tenon_operand operands[] = {operand, operand};
    tenon_kernel_p* kernel = nullptr;
    tenon_kernel_traits traits = {};
    traits.struct_size = sizeof traits;
    tenon_string reason = {};
    if (as_loop) {
      const uint32_t twice[] = {0, 1}, last[] = {2, 1}, outputs[] = {3};
      tenon_loop_instruction instructions[2] = {};
      const uint32_t ops[] = {TENON_OP_add, TENON_OP_mul};
      for (int i = 0; i < 2; ++i) {
        instructions[i].line = &line_of(ops[i]);
        instructions[i].inputs = i == 0 ? twice : last;
        instructions[i].n_inputs = 2;
        instructions[i].dtype = TENON_UINT32;
      }
      tenon_loop_request request = {};
      request.struct_size = sizeof request;
      request.inputs = operands;
      request.n_inputs = 2;
      request.instructions = instructions;
      request.n_instructions = 2;
      request.outputs = outputs;
      request.n_outputs = 1;
      EXPECT_SUCCESS(calls().prepare_loop(bench().device(), &request, &kernel, &traits, &reason));
    } else {
      tenon_kernel_request request = {};
      request.struct_size = sizeof request;
      request.line = &line_of(TENON_OP_add);
      request.inputs = operands;
      request.n_inputs = 2;
      request.outputs = operands;
      request.n_outputs = 1;
      EXPECT_SUCCESS(request.line->prepare(bench().device(), &request, &kernel, &traits, &reason));
    }
    ASSERT_NE(kernel, nullptr) << std::string(tenon_sdk::text(reason));
    AddLaunch launch({&x, 0, 100}, {&x, 0, 100}, {&y, 0, 100});
    EXPECT_SUCCESS(calls().launch(kernel, stream.get(), &launch.get()));
    EXPECT_EQ(stream.words(y, 1), (Words{as_loop ? 18u : 6u}));
    calls().release_kernel(kernel);
  }
};

class VulkanNames : public TellsNames {
 protected:
  void SetUp() override {
    TellsNames::SetUp();
    if (IsSkipped()) return;
    const Driver& driver = from_c(bench().device()).driver();
    if (!driver.has_names()) GTEST_SKIP() << "the loader has no VK_EXT_debug_utils";
    listen();
  }
};

TEST_P(VulkanNames, PipelinesAndLabelsHaveTheNamesOfOps) {
  run(false);
  EXPECT_TRUE(told.has(VK_OBJECT_TYPE_PIPELINE, "add"));
  EXPECT_EQ(told.labels, (std::vector<std::string>{"add"}));
  EXPECT_EQ(told.depth, 0);
  EXPECT_TRUE(told.has(VK_OBJECT_TYPE_BUFFER, "block "));
  EXPECT_TRUE(told.has(VK_OBJECT_TYPE_DEVICE_MEMORY, " bytes"));
  EXPECT_TRUE(told.has(VK_OBJECT_TYPE_COMMAND_BUFFER, "batch 0 of stream "));
}

TEST_P(VulkanNames, NameOfAFusedLoopListsItsOps) {
  run(true);
  EXPECT_TRUE(told.has(VK_OBJECT_TYPE_PIPELINE, "loop(add,mul)"));
  EXPECT_EQ(told.labels, (std::vector<std::string>{"loop(add,mul)"}));
}

INSTANTIATE_TEST_SUITE_P(, VulkanNames,
                         ::testing::Values(Settings{{"names", "1"}}, Settings{{"validate", "1"}}),
                         name_of_settings);

class VulkanWithoutNames : public TellsNames {};

TEST_P(VulkanWithoutNames, PassesNoNamesToTheDriver) {
  EXPECT_FALSE(from_c(bench().device()).driver().has_names());
  listen();
  run(false);
  run(true);
  EXPECT_TRUE(told.names.empty()) << told.names.begin()->second;
  EXPECT_EQ(told.labels, std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(, VulkanWithoutNames, ::testing::Values(Settings{}), name_of_settings);

// Binds memory to a buffer twice, so that the layer reports an error that names the buffer.
TEST(VulkanNamesOfObjects, ValidationMessagesContainTheNamesOfObjects) {
  const TestDevice bench(Settings{{"validate", "1"}, {"cache", ""}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  heard().log.clear();
  const Driver& driver = from_c(bench.device()).driver();
  if (!driver.has_names()) GTEST_SKIP() << "the loader has no VK_EXT_debug_utils";
  const Memory memory(bench, 100);
  const Block& block = from_c(memory.get()).block;
  driver.vk().BindBufferMemory(driver.device(), block.buffer, block.memory, 0);
  ASSERT_FALSE(heard().log.empty());
  const std::string name = "block " + std::to_string(block.serial) + ", ";
  EXPECT_NE(heard().log[0].find(name), std::string::npos) << heard().log[0];
  heard().log.clear();
}

}  // namespace
}  // namespace tenon_vulkan::testing
