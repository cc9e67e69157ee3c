// Tests of elementwise kernels, reductions and fused loops on the emulated driver.

#include "plugins/cuda/testing/cuda_testing.h"

namespace tenon_cuda::testing {
namespace {

using namespace tenon_sdk::testing;

TEST(CudaLoop, ElementsAfterTheLastWholeVectorAreComputed) {
  const Bench bench;
  ASSERT_TRUE(bench.is_open()) << bench.failure().message;
  const Tensor x = f32({1, 2, 3, 4, 5, 6, 7});
  const Result y = bench.run(TENON_OP_add, nullptr, {x, x}, {f32({7}, {})});
  EXPECT_EQ(y.failure.message, "");
  EXPECT_EQ(y[0].numbers(), (Numbers{2, 4, 6, 8, 10, 12, 14}));
  EXPECT_FALSE(y.overran);
}

TEST(CudaLoop, NegatesBytesWithoutTouchingTheirNeighbours) {
  const Bench bench;
  const Result y = bench.run(TENON_OP_bitwise_not, nullptr,
                             {boolean({true, false, true, true, false})}, {boolean({5}, {})});
  EXPECT_EQ(y.failure.message, "");
  EXPECT_EQ(y[0].numbers(), (Numbers{0, 1, 0, 0, 1}));
  EXPECT_FALSE(y.overran);
}

TEST(CudaLoop, ReadsTransposedAndBroadcastInputs) {
  const Bench bench;
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6}), row = f32({10, 20});
  const Result y = bench.run(TENON_OP_add, nullptr, {x.as({3, 2}, {1, 3}), row.as({3, 2}, {0, 1})},
                             {f32({3, 2}, {})});
  EXPECT_EQ(y.failure.message, "");
  EXPECT_EQ(y[0].numbers(), (Numbers{11, 24, 12, 25, 13, 26}));
}

TEST(CudaLoop, ReadsAnOperandThatIsPassedByValue) {
  const Bench bench;
  const Result y =
      bench.run(TENON_OP_mul, nullptr, {f16({1, 2, 3}), by_value(f16({3}, {2.5}).as({3}, {0}))},
                {f16({3}, {})});
  EXPECT_EQ(y.failure.message, "");
  EXPECT_EQ(y[0].numbers(), (Numbers{2.5, 5, 7.5}));
}

TEST(CudaLoop, SumsShortAndLongRows) {
  const Bench bench;
  const int64_t last[] = {1};
  const tenon_sum_attrs attrs = {.struct_size = sizeof attrs, .axes = last, .n_axes = 1};
  for (const int64_t n : {3, 40, 9000}) {
    const Tensor x = by_value(f32({1}, {1})).as({2, n}, {0, 0});
    const Result y = bench.run(TENON_OP_sum, &attrs, {x}, {f32({2}, {})});
    EXPECT_EQ(y.failure.message, "");
    EXPECT_EQ(y[0].numbers(), (Numbers(2, static_cast<double>(n))));
    EXPECT_FALSE(y.overran);
  }
}

// One thread processes a short row, and a block processes a long one. A later stage uses the row's
// sum.
TEST(CudaLoop, ComputesValuesPerRowFromTheSumOfTheRow) {
  const Bench bench;
  const int64_t last[] = {1};
  const tenon_sum_attrs attrs = {
      .struct_size = sizeof attrs, .axes = last, .n_axes = 1, .keepdims = true};
  for (const int64_t n : {4, 40}) {
    const Tensor x = by_value(f32({1}, {1})).as({2, n}, {0, 0});
    const Tensor divisor = by_value(f32({1}, {8})).as({2, n}, {0, 0});
    const Result y = bench.run_loop(
        {{TENON_OP_sum, &attrs, {0}, TENON_FLOAT32, TENON_LOOP_REDUCES | TENON_LOOP_PER_ROW},
         {TENON_OP_div, nullptr, {2, 1}, TENON_FLOAT32, TENON_LOOP_PER_ROW},
         {TENON_OP_sub, nullptr, {0, 3}, TENON_FLOAT32, 0}},
        {x, divisor}, {3, 4}, {f32({2, 1}, {}), f32({2, n}, {})}, 1u << 1);
    ASSERT_EQ(y.failure.message + y.refusal, "");
    const double mean = static_cast<double>(n) / 8;
    EXPECT_EQ(y[0].numbers(), (Numbers(2, mean)));
    EXPECT_EQ(y[1].numbers(), (Numbers(static_cast<size_t>(2 * n), 1 - mean)));
    EXPECT_FALSE(y.overran);
  }
}

}  // namespace
}  // namespace tenon_cuda::testing
