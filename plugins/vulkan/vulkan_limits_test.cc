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

}  // namespace
}  // namespace tenon_vulkan::testing
