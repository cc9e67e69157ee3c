// Tests the oracle's indexing, matmul, convolution and pooling against literal values.

#include <vector>

#include "plugins/ref/ref_testing.h"

namespace {

using namespace tenon_ref_testing;

// ---- index

TEST(RefIndex, GatherAcceptsIndicesOfAnyShape) {
  auto attrs = make_attrs<tenon_gather_attrs>();
  attrs.axis = 1;
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  const Launched y = run(TENON_OP_gather, {x, i32({2, 1}, {-1, 0})}, {f32({2, 2, 1}, {})}, &attrs);
  EXPECT_NUMBERS(y[0], 3, 1, 6, 4);
  EXPECT_EQ(y.record.state, 0u);
  const Tensor transposed = x.as({3, 2}, {1, 3});
  EXPECT_NUMBERS(call(TENON_OP_gather, {transposed, i64({}, {1})}, f32({3}, {}), &attrs), 4, 5, 6);
}

TEST(RefIndex, GatherReturnsZeroForInvalidIndicesAndReportsTheFirst) {
  auto attrs = make_attrs<tenon_gather_attrs>();
  const Tensor x = f32({3, 2}, {1, 2, 3, 4, 5, 6}), indices = i64({1, 7, -4});
  const Launched y = run(TENON_OP_gather, {x, indices}, {f32({3, 2}, {})}, &attrs);
  EXPECT_NUMBERS(y[0], 3, 4, 0, 0, 0, 0);
  EXPECT_EQ(y.record.state, 1u);
  EXPECT_EQ(y.record.site, 7u);
  EXPECT_EQ(y.record.index, 7);
  EXPECT_EQ(y.record.bound, 3);
}

TEST(RefIndex, GatherSupportsEmptyDataAndEmptyIndices) {
  auto attrs = make_attrs<tenon_gather_attrs>();
  const Launched none = run(TENON_OP_gather, {f32({3}), i64({0}, {})}, {f32({0}, {})}, &attrs);
  EXPECT_EQ(none.record.state, 0u);
  const Launched empty = run(TENON_OP_gather, {f32({0}, {}), i64({-1})}, {f32({1}, {})}, &attrs);
  EXPECT_NUMBERS(empty[0], 0);
  EXPECT_EQ(empty.record.index, -1);
  EXPECT_EQ(empty.record.bound, 0);
}

TEST(RefIndex, GatherElementsReadsOneElementPerIndex) {
  auto attrs = make_attrs<tenon_gather_elements_attrs>();
  attrs.axis = -2;
  const Tensor x = i8({3, 2}, {1, 2, 3, 4, 5, 6}), indices = i64({2, 2}, {2, 0, -2, 5});
  const Launched y = run(TENON_OP_gather_elements, {x, indices}, {i8({2, 2}, {})}, &attrs);
  EXPECT_NUMBERS(y[0], 5, 2, 3, 0);
  EXPECT_EQ(y.record.index, 5);
}

TEST(RefIndex, GatherNdSupportsIndexTuplesWithAndWithoutBatchAxes) {
  auto attrs = make_attrs<tenon_gather_nd_attrs>();
  const Tensor x = f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor pairs = i64({2, 2}, {0, 1, -1, 0});
  EXPECT_NUMBERS(call(TENON_OP_gather_nd, {x, pairs}, f32({2, 2}, {}), &attrs), 3, 4, 5, 6);
  attrs.batch_dims = 1;
  EXPECT_NUMBERS(call(TENON_OP_gather_nd, {x, i64({2, 1}, {1, 0})}, f32({2, 2}, {}), &attrs), 3, 4,
                 5, 6);
  const Launched y = run(TENON_OP_gather_nd, {x, i64({2, 1}, {1, 2})}, {f32({2, 2}, {})}, &attrs);
  EXPECT_NUMBERS(y[0], 3, 4, 0, 0);
  EXPECT_EQ(y.record.index, 2);
  EXPECT_EQ(y.record.bound, 2);
}

TEST(RefIndex, ScatterElementsKeepsTheLastUpdateAndDropsUpdatesOutOfRange) {
  auto attrs = make_attrs<tenon_scatter_elements_attrs>();
  const Tensor x = f32({1, 2, 3}), indices = i64({1, 1, 9, -1}), updates = f32({10, 20, 30, 40});
  const Launched y = run(TENON_OP_scatter_elements, {x, indices, updates}, {f32({3}, {})}, &attrs);
  EXPECT_NUMBERS(y[0], 1, 20, 40);
  EXPECT_EQ(y.record.index, 9);
  EXPECT_EQ(y.record.bound, 3);
}

TEST(RefIndex, ScatterElementsReducesUpdatesWithEqualIndices) {
  auto attrs = make_attrs<tenon_scatter_elements_attrs>();
  const Tensor x = i8({100, 2}), indices = i32({0, 0, 1}), updates = i8({20, 30, -3});
  const auto reduced = [&](int32_t reduction) {
    attrs.reduction = reduction;
    return call(TENON_OP_scatter_elements, {x, indices, updates}, i8({2}, {}), &attrs);
  };
  EXPECT_NUMBERS(reduced(TENON_SCATTER_REDUCTION_ADD), -106, -1);
  EXPECT_NUMBERS(reduced(TENON_SCATTER_REDUCTION_MUL), 96, -6);
  EXPECT_NUMBERS(reduced(TENON_SCATTER_REDUCTION_MIN), 20, -3);
  EXPECT_NUMBERS(reduced(TENON_SCATTER_REDUCTION_MAX), 100, 2);
}

TEST(RefIndex, ScatterMaxPropagatesNanAndScatterAddRefusesBool) {
  auto attrs = make_attrs<tenon_scatter_elements_attrs>();
  attrs.reduction = TENON_SCATTER_REDUCTION_MAX;
  const Tensor x = f32({kNaN, 1}), updates = f32({5, kNaN});
  EXPECT_NUMBERS(call(TENON_OP_scatter_elements, {x, i64({0, 1}), updates}, f32({2}, {}), &attrs),
                 kNaN, kNaN);
  const Tensor flags = boolean({true, false});
  const Launched refused =
      ref().run(TENON_OP_scatter_elements, &attrs, {flags, i64({0, 1}), flags}, {boolean({2}, {})});
  EXPECT_EQ(refused.refusal, "does not support this reduction for this dtype");
}

TEST(RefIndex, ScatterNdWritesSlices) {
  auto attrs = make_attrs<tenon_scatter_nd_attrs>();
  const Tensor x = f32({3, 2}, {1, 2, 3, 4, 5, 6}), indices = i64({3, 1}, {2, 0, 3});
  const Tensor updates = f32({3, 2}, {10, 20, 30, 40, 50, 60}).as({3, 2}, {2, 1});
  const Launched y = run(TENON_OP_scatter_nd, {x, indices, updates}, {f32({3, 2}, {})}, &attrs);
  EXPECT_NUMBERS(y[0], 30, 40, 3, 4, 10, 20);
  EXPECT_EQ(y.record.index, 3);
  const Tensor at = i64({1, 2}, {-1, -1});
  attrs.reduction = TENON_SCATTER_REDUCTION_ADD;
  EXPECT_NUMBERS(call(TENON_OP_scatter_nd, {x, at, f32({4})}, f32({3, 2}, {}), &attrs), 1, 2, 3, 4,
                 5, 10);
}

// ---- matmul

TEST(RefMatmul, MultipliesAndTransposes) {
  auto attrs = make_attrs<tenon_matmul_attrs>();
  const Tensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6}), b = f32({3, 2}, {1, 0, 0, 1, 1, 1});
  const Tensor out = f32({2, 2}, {});
  EXPECT_NUMBERS(call(TENON_OP_matmul, {a, b}, out, &attrs), 4, 5, 10, 11);
  EXPECT_NUMBERS(call(TENON_OP_matmul, {a.as({2, 3}, {-3, -1}, 5), b}, out, &attrs), 10, 9, 4, 3);
  attrs.transpose_a = attrs.transpose_b = true;
  const Tensor at = f32({3, 2}, {1, 4, 2, 5, 3, 6}), bt = f32({2, 3}, {1, 0, 1, 0, 1, 1});
  EXPECT_NUMBERS(call(TENON_OP_matmul, {at, bt}, out, &attrs), 4, 5, 10, 11);
}

TEST(RefMatmul, BroadcastsABatchOfStrideZero) {
  const Tensor a = i8({2, 1, 2}, {1, 2, 3, 4}), b = i8({2, 1}, {10, 20}).as({2, 2, 1}, {0, 1, 1});
  EXPECT_NUMBERS(call(TENON_OP_matmul, {a, b}, i8({2, 1, 1}, {})), 50, 110);
}

TEST(RefMatmul, TransposesABroadcastBatch) {
  auto attrs = make_attrs<tenon_matmul_attrs>();
  attrs.transpose_a = attrs.transpose_b = true;
  const Tensor a = f32({2, 2, 1}, {1, 2, 3, 4}), b = f32({3, 2}, {1, 0, 0, 1, 1, 1});
  EXPECT_NUMBERS(call(TENON_OP_matmul, {a, b.as({2, 3, 2}, {0, 2, 1})}, f32({2, 1, 3}, {}), &attrs),
                 1, 2, 3, 3, 4, 7);
}

TEST(RefMatmul, EmptySumsAreZeroAndIntegersWrap) {
  EXPECT_NUMBERS(call(TENON_OP_matmul, {f32({1, 0}, {}), f32({0, 2}, {})}, f32({1, 2}, {})), 0, 0);
  EXPECT_TRUE(
      call(TENON_OP_matmul, {f32({0, 1}, {}), f32({1, 2}, {})}, f32({0, 2}, {})).bytes.empty());
  EXPECT_NUMBERS(call(TENON_OP_matmul, {i8({1, 1}, {-128}), i8({1, 1}, {-1})}, i8({1, 1}, {})),
                 -128);
}

// ---- conv

TEST(RefConv, SupportsStridesPadsAndDilationsOfOneAxis) {
  auto attrs = make_attrs<tenon_conv_attrs>();
  attrs.group = 1;
  const Tensor x = f32({1, 1, 5}, {1, 2, 3, 4, 5}), w = f32({1, 1, 2}, {1, 10});
  EXPECT_NUMBERS(call(TENON_OP_conv, {x, w, none()}, f32({1, 1, 4}, {}), &attrs), 21, 32, 43, 54);
  EXPECT_NUMBERS(call(TENON_OP_conv, {x, w, f32({100})}, f32({1, 1, 4}, {}), &attrs), 121, 132, 143,
                 154);
  const List two = {2}, pads = {1, 1};
  SET_LIST(attrs, strides, two);
  SET_LIST(attrs, pads, pads);
  EXPECT_NUMBERS(call(TENON_OP_conv, {x, w, none()}, f32({1, 1, 3}, {}), &attrs), 10, 32, 54);
  SET_LIST(attrs, dilations, two);
  EXPECT_NUMBERS(call(TENON_OP_conv, {x, w, none()}, f32({1, 1, 3}, {}), &attrs), 20, 42, 4);
}

TEST(RefConv, LhsDilationInsertsZerosIntoTheInput) {
  auto attrs = make_attrs<tenon_conv_attrs>();
  attrs.group = 1;
  const List two = {2}, pads = {1, 1};
  SET_LIST(attrs, lhs_dilation, two);
  SET_LIST(attrs, pads, pads);
  const Tensor x = f32({1, 1, 2}, {1, 2}), w = f32({1, 1, 2}, {1, 10});
  EXPECT_NUMBERS(call(TENON_OP_conv, {x, w, none()}, f32({1, 1, 4}, {}), &attrs), 10, 1, 20, 2);
}

TEST(RefConv, SupportsTwoAxesTwoChannelsAndStridedInput) {
  auto attrs = make_attrs<tenon_conv_attrs>();
  attrs.group = 1;
  // NHWC memory, read through NCHW strides. The first channel is 1, 2, 3, 4; the second is 10, 20,
  // 30, 40.
  const Tensor x = f32({1, 10, 2, 20, 3, 30, 4, 40}).as({1, 2, 2, 2}, {8, 1, 4, 2});
  const Tensor w = f32({1, 2, 2, 1}, {1, 2, 0.5f, 0});
  EXPECT_NUMBERS(call(TENON_OP_conv, {x, w, none()}, f32({1, 1, 1, 2}, {}), &attrs), 12, 20);
}

TEST(RefConv, EachGroupReadsOnlyItsOwnChannels) {
  auto attrs = make_attrs<tenon_conv_attrs>();
  attrs.group = 2;
  const Tensor x = f32({1, 2, 2}, {1, 2, 3, 4}), w = f32({4, 1, 1}, {1, 10, 100, 1000});
  EXPECT_NUMBERS(call(TENON_OP_conv, {x, w, none()}, f32({1, 4, 2}, {}), &attrs), 1, 2, 10, 20, 300,
                 400, 3000, 4000);
}

TEST(RefConv, BackwardFilterSumsOverBatchAndPositions) {
  auto attrs = make_attrs<tenon_conv_backward_filter_attrs>();
  attrs.group = 1;
  const Tensor x = f32({2, 1, 3}, {1, 2, 3, 4, 5, 6}), dy = f32({2, 1, 2}, {1, 10, 100, 1000});
  const Tensor dw = f32({1, 1, 2}, {});
  EXPECT_NUMBERS(call(TENON_OP_conv_backward_filter, {x, dy}, dw, &attrs), 5421, 6532);
  const List pads = {1, 0}, two = {2};
  SET_LIST(attrs, pads, pads);
  SET_LIST(attrs, strides, two);
  EXPECT_NUMBERS(call(TENON_OP_conv_backward_filter, {x, dy}, dw, &attrs), 5020, 6431);
}

// ---- pool

TEST(RefPool, MaxPoolReturnsTheIndexOfTheMaximum) {
  auto attrs = make_attrs<tenon_max_pool_attrs>();
  const List kernel = {2, 2}, strides = {1, 2}, pads = {0, 1, 0, 0};
  SET_LIST(attrs, kernel_shape, kernel);
  SET_LIST(attrs, strides, strides);
  SET_LIST(attrs, pads, pads);
  const Tensor x = f32({1, 2, 2, 3}, {-1, -2, -3, -4, -5, -6, 1, 7, 7, 4, kNaN, 9});
  const Launched y =
      run(TENON_OP_max_pool, {x}, {f32({1, 2, 1, 2}, {}), i64({1, 2, 1, 2}, {})}, &attrs);
  EXPECT_NUMBERS(y[0], -1, -2, 4, kNaN);
  EXPECT_NUMBERS(y[1], 0, 1, 9, 10);
}

TEST(RefPool, MaxPoolSelectsTheFirstOfTiesOrNansAndSupportsExtremeValues) {
  auto attrs = make_attrs<tenon_max_pool_attrs>();
  const List kernel = {2}, pads = {1, 1};
  SET_LIST(attrs, kernel_shape, kernel);
  SET_LIST(attrs, pads, pads);
  const Launched y = run(TENON_OP_max_pool, {i8({1, 1, 2}, {-128, -128})},
                         {i8({1, 1, 3}, {}), i64({1, 1, 3}, {})}, &attrs);
  EXPECT_NUMBERS(y[0], -128, -128, -128);
  EXPECT_NUMBERS(y[1], 0, 0, 1);
  const Launched nan = run(TENON_OP_max_pool, {f32({1, 1, 2}, {kNaN, kNaN})},
                           {f32({1, 1, 3}, {}), i64({1, 1, 3}, {})}, &attrs);
  EXPECT_NUMBERS(nan[1], 0, 0, 1);
}

TEST(RefPool, WindowSumTreatsPaddingAsZero) {
  auto attrs = make_attrs<tenon_window_sum_attrs>();
  const List kernel = {2}, pads = {1, 0}, dilations = {2};
  SET_LIST(attrs, kernel_shape, kernel);
  SET_LIST(attrs, pads, pads);
  const Tensor x = f32({1, 1, 4}, {1, 2, 4, 8});
  EXPECT_NUMBERS(call(TENON_OP_window_sum, {x}, f32({1, 1, 4}, {}), &attrs), 1, 3, 6, 12);
  SET_LIST(attrs, dilations, dilations);
  EXPECT_NUMBERS(call(TENON_OP_window_sum, {x}, f32({1, 1, 3}, {}), &attrs), 2, 5, 10);
}

TEST(RefPool, EmptyBatchesGiveEmptyResults) {
  auto attrs = make_attrs<tenon_window_sum_attrs>();
  const List kernel = {2};
  SET_LIST(attrs, kernel_shape, kernel);
  EXPECT_TRUE(
      call(TENON_OP_window_sum, {f32({0, 1, 4}, {})}, f32({0, 1, 3}, {}), &attrs).bytes.empty());
}

// ---- the device

TEST(RefDevice, WritesNoMoreBytesThanTheCallersStructSize) {
  tenon_device_properties properties = {};
  properties.struct_size = sizeof properties;
  EXPECT_EQ(ref().calls().describe_device(ref().device(), &properties), nullptr);
  EXPECT_EQ(tenon_sdk::text(properties.description), "reference loops, one thread");
  EXPECT_NE(properties.features & TENON_FEATURE_SYNCHRONOUS, 0u);

  tenon_device_properties shorter = {};
  shorter.struct_size = offsetof(tenon_device_properties, features);
  EXPECT_EQ(ref().calls().describe_device(ref().device(), &shorter), nullptr);
  EXPECT_EQ(shorter.struct_size, offsetof(tenon_device_properties, features));
  EXPECT_EQ(shorter.features, 0u);
}

TEST(RefDevice, CopiesAndFillsBuffersAndReportsMemoryStatistics) {
  const tenon_plugin_calls& calls = ref().calls();
  tenon_memory_statistics before = {}, during = {};
  before.struct_size = during.struct_size = sizeof before;
  calls.memory_statistics(ref().device(), &before);
  tenon_buffer_p* buffer = nullptr;
  ASSERT_EQ(calls.allocate(ref().device(), 8, &buffer), nullptr);
  calls.memory_statistics(ref().device(), &during);
  EXPECT_EQ(during.allocated_bytes, before.allocated_bytes + 8);
  EXPECT_EQ(during.allocations, before.allocations + 1);

  const tenon_fill_region fill = {
      .buffer = buffer, .offset = 2, .size = 6, .pattern = 0x0201, .pattern_size = 2};
  EXPECT_EQ(calls.fill(ref().stream(), &fill), nullptr);
  unsigned char bytes[6] = {};
  const tenon_copy_region copy = {
      .from = {.buffer = buffer, .offset = 2}, .to = {.host = bytes}, .size = 6};
  EXPECT_EQ(calls.copy(ref().stream(), &copy), nullptr);
  EXPECT_EQ(std::vector<int>(bytes, bytes + 6), (std::vector<int>{1, 2, 1, 2, 1, 2}));
  calls.release(buffer);
}

TEST(RefDevice, RefusesCopiesOutsideABufferAndTooLargeAllocations) {
  const tenon_plugin_calls& calls = ref().calls();
  tenon_buffer_p* buffer = nullptr;
  ASSERT_EQ(calls.allocate(ref().device(), 8, &buffer), nullptr);
  const tenon_fill_region fill = {.buffer = buffer, .offset = 4, .size = 8, .pattern_size = 1};
  EXPECT_EQ(code_of(calls.fill(ref().stream(), &fill)), TENON_INVALID_ARGUMENT);
  calls.release(buffer);
  EXPECT_EQ(code_of(calls.allocate(ref().device(), UINT64_MAX - 1, &buffer)), TENON_OUT_OF_MEMORY);
}

TEST(RefDevice, NotifiesImmediatelyAndDestroysThePayloadOnce) {
  struct Seen {
    int calls = 0, destroyed = 0;
  } seen;
  const tenon_done_callback done = {
      .function = [](void* payload, const tenon_error*) { ++static_cast<Seen*>(payload)->calls; },
      .payload = &seen,
      .destroy = [](void* payload) { ++static_cast<Seen*>(payload)->destroyed; }};
  EXPECT_EQ(ref().calls().notify(ref().stream(), done), nullptr);
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.destroyed, 1);
}

}  // namespace
