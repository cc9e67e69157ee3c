// Runs every kernel on the emulated driver, with the example of examples.cc.

#include <set>

#include "plugins/cuda/testing/examples.h"

namespace tenon_cuda::testing {
namespace {

class CudaKernels : public ::testing::TestWithParam<size_t> {};

TEST_P(CudaKernels, ReturnTheExpectedOutputsOfTheirExamples) {
  const Example& example = examples()[GetParam()];
  const Bench bench;
  ASSERT_TRUE(bench.is_open()) << bench.failure().message;
  const Result result = bench.run(example.op, example.attrs, example.inputs, example.outputs);
  ASSERT_EQ(result.failure.message, "") << example.name;
  ASSERT_EQ(result.refusal, "") << example.name;
  for (size_t i = 0; i < example.expected.size(); ++i) {
    EXPECT_EQ(result[i].numbers(), example.expected[i]) << example.name << ", output " << i;
  }
  EXPECT_FALSE(result.overran) << example.name;
}

INSTANTIATE_TEST_SUITE_P(Examples, CudaKernels, ::testing::Range(size_t{0}, examples().size()));

TEST(CudaKernelList, EveryEntryHasAnExample) {
  const tenon_plugin* plugin = nullptr;
  ASSERT_EQ(query(&plugin).message, "");
  std::set<uint32_t> ops;
  for (const Example& example : examples()) ops.insert(example.op);
  for (size_t i = 0; i < plugin->n_kernels; ++i) {
    const tenon_kernel& line = plugin->kernels[i];
    if (is_elementwise(line)) continue;
    EXPECT_EQ(ops.count(line.op), 1u) << "line " << i;
  }
}

TEST(CudaKernelList, EveryElementwiseEntryRuns) {
  const Bench bench;
  ASSERT_TRUE(bench.is_open()) << bench.failure().message;
  for (size_t i = 0; i < bench.plugin().n_kernels; ++i) {
    const tenon_kernel& line = bench.plugin().kernels[i];
    if (!is_elementwise(line)) continue;
    const Example example = elementwise_example(line);
    const Result result = bench.run(example.op, nullptr, example.inputs, example.outputs);
    EXPECT_EQ(result.failure.message + result.refusal, "") << "line " << i;
    EXPECT_FALSE(result.overran) << "line " << i;
  }
}

TEST(CudaKernel, GatherReportsTheFirstIndexOutOfRange) {
  const Bench bench;
  const tenon_gather_attrs attrs = {.struct_size = sizeof attrs, .axis = 0};
  using namespace tenon_sdk::testing;
  const Result result =
      bench.run(TENON_OP_gather, &attrs, {f32({1, 2, 3}), i64({1, 5})}, {f32({2}, {})}, 42);
  EXPECT_EQ(result[0].numbers(), (Numbers{2, 0}));
  EXPECT_EQ(result.record.state, 1u);
  EXPECT_EQ(result.record.site, 42u);
  EXPECT_EQ(result.record.index, 5);
  EXPECT_EQ(result.record.bound, 3);
}

TEST(CudaKernel, SortsLinesLongerThanABlock) {
  using namespace tenon_sdk::testing;
  const Bench bench;
  const tenon_sort_attrs attrs = {.struct_size = sizeof attrs, .axis = 0, .descending = false};
  Tensor x = i32({1000}, {});
  std::vector<int32_t> values(1000);
  for (int32_t i = 0; i < 1000; ++i) values[static_cast<size_t>(i)] = i * 7919 % 1000;
  std::memcpy(x.bytes.data(), values.data(), x.bytes.size());
  const Result result = bench.run(TENON_OP_sort, &attrs, {x}, {i32({1000}, {})});
  ASSERT_EQ(result.failure.message, "");
  Numbers expected;
  for (int i = 0; i < 1000; ++i) expected.push_back(i);
  EXPECT_EQ(result[0].numbers(), expected);
}

// A block scans a line of 10000 elements in three tiles. A single thread scans a line of 2
// elements.
TEST(CudaKernel, ScansLongLinesByTilesAndShortOnesByThreads) {
  using namespace tenon_sdk::testing;
  const Bench bench;
  const tenon_cumsum_attrs attrs = {
      .struct_size = sizeof attrs, .axis = 0, .exclusive = true, .reverse = true};
  for (const int64_t n : {2, 100, 10000}) {
    const Tensor x = by_value(i32({}, {3})).as({n, 2}, {0, 0});
    const Result result = bench.run(TENON_OP_cumsum, &attrs, {x}, {i32({n, 2}, {})});
    ASSERT_EQ(result.failure.message, "");
    Numbers expected;
    for (int64_t i = 0; i < 2 * n; ++i)
      expected.push_back(static_cast<double>(3 * (n - 1 - i / 2)));
    EXPECT_EQ(result[0].numbers(), expected) << n;
    EXPECT_FALSE(result.overran);
  }
}

// A serial sum of ones in float16 would stop growing at 2048.
TEST(CudaKernel, ScatterSumsHalfTypesInFloat32) {
  using namespace tenon_sdk::testing;
  const Bench bench;
  const tenon_scatter_elements_attrs attrs = {
      .struct_size = sizeof attrs, .axis = 0, .reduction = TENON_SCATTER_REDUCTION_ADD};
  const Tensor index = by_value(i64({}, {0})).as({5000}, {0});
  const Tensor one = by_value(f16({}, {1})).as({5000}, {0});
  const Result result =
      bench.run(TENON_OP_scatter_elements, &attrs, {f16({0, 7}), index, one}, {f16({2}, {})});
  ASSERT_EQ(result.failure.message, "");
  EXPECT_EQ(result[0].numbers(), (Numbers{5000, 7}));
  EXPECT_FALSE(result.overran);
}

}  // namespace
}  // namespace tenon_cuda::testing
