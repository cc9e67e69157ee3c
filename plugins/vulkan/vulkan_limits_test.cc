// What shaders cannot do is an error.

#include <gtest/gtest.h>

#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {
namespace {

// They count with 32 bits. Memory that is broadcast may have more elements.
TEST(VulkanLimits, MoreElementsThanAreCountedAreUnimplemented) {
  const Bench bench(Settings{{"cache", ""}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const Queue queue(bench);
  const tenon_sum_attrs attrs = TENON_SUM_ATTRS_DEFAULT;
  tenon_operand x = {}, y = {};
  x.dtype = y.dtype = TENON_FLOAT32;
  x.rank = 2;
  x.strides = TENON_STRIDES_UNIFORM;
  y.strides = TENON_STRIDES_DENSE;
  const PreparedKernel kernel(bench, TENON_OP_sum, &attrs, {&x, 1}, y);
  ASSERT_NE(kernel.handle(), nullptr);
  const Memory memory(bench, 4), result(bench, 4);
  const int64_t sizes[] = {1 << 16, 1 << 16}, strides[] = {0, 0};
  tenon_view input = {}, output = {};
  input.buffer = memory.get();
  output.buffer = result.get();
  input.dtype = output.dtype = TENON_FLOAT32;
  input.sizes = sizes;
  input.strides = strides;
  input.rank = 2;
  input.strides_class = TENON_STRIDES_UNIFORM;
  output.strides_class = TENON_STRIDES_DENSE;
  tenon_launch launch = {};
  launch.struct_size = sizeof launch;
  launch.n_inputs = launch.n_outputs = 1;
  launch.inputs = &input;
  launch.outputs = &output;
  const Failure failure = take(Bench::calls().launch(kernel.handle(), queue.get(), &launch));
  EXPECT_EQ(failure.code, TENON_UNIMPLEMENTED);
  EXPECT_NE(failure.message.find("4294967296 elements"), std::string::npos) << failure.message;
}

// What shaders see of an operand at once is less than there may be: on lavapipe 128 MiB.
TEST(VulkanLimits, LoopsGoOverMoreThanShadersSeeAtOnce) {
  const Bench bench(Settings{{"cache", ""}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const uint64_t seen = capabilities_of(bench.device()).max_operand_bytes;
  if (seen > uint64_t{1} << 28) GTEST_SKIP() << "there is not so much memory here";
  const Queue queue(bench);
  tenon_operand x = {}, y = {};
  x.dtype = y.dtype = TENON_INT8;
  x.rank = y.rank = 1;
  x.strides = y.strides = TENON_STRIDES_DENSE;
  const PreparedKernel kernel(bench, TENON_OP_neg, nullptr, {&x, 1}, y);
  ASSERT_NE(kernel.handle(), nullptr);
  const int64_t n = static_cast<int64_t>(seen) + 100001, stride = 1;
  const uint64_t size = static_cast<uint64_t>(n);
  const Memory memory(bench, size), result(bench, size);
  Bytes numbers(size);
  for (uint64_t i = 0; i < size; ++i) numbers[i] = static_cast<uint8_t>(i * 7 + (i >> 20));
  queue.write(memory, 0, numbers.data(), size);
  tenon_view input = {}, output = {};
  input.buffer = memory.get();
  output.buffer = result.get();
  input.dtype = output.dtype = TENON_INT8;
  input.sizes = output.sizes = &n;
  input.strides = output.strides = &stride;
  input.rank = output.rank = 1;
  input.strides_class = output.strides_class = TENON_STRIDES_DENSE;
  tenon_launch launch = {};
  launch.struct_size = sizeof launch;
  launch.n_inputs = launch.n_outputs = 1;
  launch.inputs = &input;
  launch.outputs = &output;
  EXPECT_SUCCESS(Bench::calls().launch(kernel.handle(), queue.get(), &launch));
  const Bytes negated = queue.bytes(result, size);
  uint64_t n_wrong = 0;
  for (uint64_t i = 0; i < size; ++i) n_wrong += static_cast<uint8_t>(negated[i] + numbers[i]) != 0;
  EXPECT_EQ(n_wrong, 0u);
}

}  // namespace
}  // namespace tenon_vulkan::testing
