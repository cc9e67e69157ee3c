// Compares convolutions, pooling and losses with the plugin ref or with literals. Checks that
// memory layouts and the number of threads do not change the bits of results.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "plugins/cpu/cpu_testing.h"

namespace tenon_simd {
namespace {

using namespace tenon_sdk::testing;

struct ConvCase {
  List x, w, steps, pads, dilations, lhs_dilations;
  int64_t group;
};
const ConvCase kConvCases[] = {
    {{2, 3, 9, 9}, {5, 3, 3, 3}, {}, {1, 1, 1, 1}, {}, {}, 1},
    {{2, 1, 28, 28}, {16, 1, 3, 3}, {}, {1, 1, 1, 1}, {}, {}, 1},
    {{1, 16, 14, 14}, {32, 16, 3, 3}, {}, {1, 1, 1, 1}, {}, {}, 1},
    {{2, 4, 11, 10}, {6, 2, 3, 2}, {2, 3}, {1, 0, 2, 1}, {}, {}, 2},
    {{1, 3, 12, 13}, {4, 3, 3, 3}, {}, {0, 0, 0, 0}, {2, 2}, {}, 1},
    {{1, 2, 5, 6}, {3, 2, 3, 3}, {}, {2, 2, 2, 2}, {}, {2, 3}, 1},
    {{3, 4, 17}, {8, 4, 5}, {2}, {2, 2}, {}, {}, 1},
    {{1, 2, 4, 5, 6}, {3, 2, 2, 3, 2}, {}, {0, 1, 0, 1, 1, 1}, {}, {}, 1},
    {{1, 8, 7, 7}, {8, 1, 3, 3}, {}, {1, 1, 1, 1}, {}, {}, 8},
    {{1, 40, 6, 40}, {20, 40, 3, 3}, {}, {1, 1, 1, 1}, {}, {}, 1},
    // Sums of more terms than one chain adds, in the algorithms `rows`, `panels` and `channels`.
    {{1, 460, 2, 32}, {3, 460, 3, 3}, {}, {1, 1, 1, 1}, {}, {}, 1},
    {{1, 460, 7, 7}, {9, 460, 3, 3}, {}, {1, 1, 1, 1}, {}, {}, 1},
    {{1, 460, 7, 7}, {45, 460, 3, 3}, {}, {1, 1, 1, 1}, {}, {}, 1},
    // Filters of size 1: the algorithms `plain` and `channels`, and strides.
    {{1, 20, 33, 33}, {40, 20, 1, 1}, {}, {0, 0, 0, 0}, {}, {}, 1},
    {{3, 20, 7, 6}, {40, 20, 1, 1}, {}, {0, 0, 0, 0}, {}, {}, 1},
    {{2, 20, 15, 14}, {40, 20, 1, 1}, {2, 2}, {0, 0, 0, 0}, {}, {}, 1},
    // Depthwise convolutions: rows of more than four vectors, and strides.
    {{2, 4, 9, 70}, {4, 1, 3, 3}, {}, {1, 1, 1, 1}, {}, {}, 4},
    {{1, 4, 11, 31}, {4, 1, 5, 3}, {2, 2}, {2, 2, 1, 1}, {}, {}, 4},
    {{2, 4, 11, 33}, {4, 1, 5, 5}, {2, 2}, {2, 2, 2, 2}, {}, {}, 4},
    // Input dilations: filter elements read disjoint or overlapping inputs, or some read none.
    {{1, 5, 6, 7}, {4, 5, 2, 2}, {}, {1, 1, 1, 1}, {}, {2, 2}, 1},
    {{2, 6, 6, 7}, {4, 3, 4, 3}, {}, {3, 1, 2, 2}, {}, {2, 3}, 2},
    {{1, 2, 5, 5}, {3, 2, 1, 1}, {}, {0, 2, 1, 0}, {}, {3, 2}, 1},
};

tenon_conv_attrs attrs_of(const ConvCase& c) {
  return {sizeof(tenon_conv_attrs),
          c.steps.data(),
          c.steps.size(),
          c.pads.data(),
          c.pads.size(),
          c.dilations.data(),
          c.dilations.size(),
          c.group,
          c.lhs_dilations.data(),
          c.lhs_dilations.size()};
}

template <class Attrs>
Attrs backward_attrs(const ConvCase& c, const List& shape) {
  return {sizeof(Attrs),      shape.data(),  shape.size(),           c.steps.data(),
          c.steps.size(),     c.pads.data(), c.pads.size(),          c.dilations.data(),
          c.dilations.size(), c.group,       c.lhs_dilations.data(), c.lhs_dilations.size()};
}

List out_sizes(const ConvCase& c) {
  List sizes{c.x[0], c.w[0]};
  const size_t n = c.x.size() - 2;
  for (size_t i = 0; i < n; ++i) {
    const auto or_one = [&](const List& list) { return list.empty() ? 1 : list[i]; };
    const int64_t dilated = (c.x[i + 2] - 1) * or_one(c.lhs_dilations) + 1;
    const int64_t window = (c.w[i + 2] - 1) * or_one(c.dilations) + 1;
    sizes.push_back((dilated + c.pads[i] + c.pads[n + i] - window) / or_one(c.steps) + 1);
  }
  return sizes;
}

double dot(const Tensor& a, const Tensor& b) {
  const Numbers x = a.numbers(), y = b.numbers();
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

TEST(CpuConv, AgreesWithRef) {
  for (const tenon_dtype dtype : {TENON_FLOAT32, TENON_FLOAT64, TENON_FLOAT16}) {
    for (const ConvCase& c : kConvCases) {
      const Tensor x = random_tensor(dtype, c.x, -1, 1), w = random_tensor(dtype, c.w, -1, 1, 2);
      const Tensor b = random_tensor(dtype, {c.w[0]}, -1, 1, 3), y = zeros_of(dtype, out_sizes(c));
      const tenon_conv_attrs attrs = attrs_of(c);
      const Launched want = ref().run(TENON_OP_conv, &attrs, {x, w, b}, {y});
      const Launched got = cpu().run(TENON_OP_conv, &attrs, {x, w, b}, {y});
      EXPECT_FALSE(got.overran);
      EXPECT_TRUE(close(got[0], want[0], dtype == TENON_FLOAT16 ? 1e-3 : 1e-5));
    }
  }
}

// Depthwise convolutions read images with contiguous rows in place and copy others to padded
// planes.
TEST(CpuConv, DepthwiseBitsDoNotDependOnTheLayout) {
  for (const tenon_dtype dtype : {TENON_FLOAT32, TENON_FLOAT64}) {
    for (const int64_t taps : {3, 5}) {
      for (const int64_t step : {1, 2}) {
        for (const int64_t width : {1, 2, 5, 7, 8, 9, 14, 16, 17, 31, 32, 35, 70}) {
          const int64_t height = 1 + width * 7 % 10;
          for (const List& pads : {List{2, 2, 2, 2}, List{taps, 1, 1, taps}, List{4, 0, 4, 4}}) {
            const ConvCase c{
                {2, 3, height, width}, {3, 1, taps, taps}, {step, step}, pads, {}, {}, 3};
            const tenon_conv_attrs attrs = attrs_of(c);
            const Tensor x = specials_first(dtype, 6 * height * width + 192, 1)
                                 .as(c.x, {3 * height * width, height * width, width, 1});
            const Tensor w = random_tensor(dtype, c.w, -1, 1, 2);
            const Tensor b = random_tensor(dtype, {3}, -1, 1, 3), y = zeros_of(dtype, out_sizes(c));
            for (const std::vector<Tensor>& inputs : {std::vector{x, w}, std::vector{x, w, b}}) {
              std::vector<Tensor> copied = inputs;
              copied[0] = scattered(x);
              const Launched got = cpu().run(TENON_OP_conv, &attrs, inputs, {y});
              const Launched want = cpu().run(TENON_OP_conv, &attrs, copied, {y});
              EXPECT_FALSE(got.overran);
              EXPECT_TRUE(same_values(got[0], want[0]))
                  << taps << " taps, step " << step << ", " << height << "x" << width;
            }
          }
        }
      }
    }
  }
}

TEST(CpuConv, FilterGradientAgreesWithRef) {
  for (const ConvCase& c : kConvCases) {
    const Tensor x = random_tensor(TENON_FLOAT32, c.x, -1, 1);
    const Tensor dy = random_tensor(TENON_FLOAT32, out_sizes(c), -1, 1, 2);
    const auto attrs = backward_attrs<tenon_conv_backward_filter_attrs>(c, c.w);
    const Tensor dw = zeros_of(TENON_FLOAT32, c.w);
    const Launched want = ref().run(TENON_OP_conv_backward_filter, &attrs, {x, dy}, {dw});
    const Launched got = cpu().run(TENON_OP_conv_backward_filter, &attrs, {x, dy}, {dw});
    EXPECT_FALSE(got.overran);
    EXPECT_TRUE(close(got[0], want[0], 1e-5));
  }
}

// <dy, conv(x)> = <conv_backward_input(dy), x>
TEST(CpuConv, InputGradientIsTheTransposeOfConv) {
  for (const ConvCase& c : kConvCases) {
    const Tensor x = random_tensor(TENON_FLOAT64, c.x, -1, 1);
    const Tensor w = random_tensor(TENON_FLOAT64, c.w, -1, 1, 2);
    const Tensor dy = random_tensor(TENON_FLOAT64, out_sizes(c), -1, 1, 3);
    const tenon_conv_attrs attrs = attrs_of(c);
    const Launched y = cpu().run(TENON_OP_conv, &attrs, {x, w}, {dy});
    const auto backward = backward_attrs<tenon_conv_backward_input_attrs>(c, c.x);
    const Launched dx = cpu().run(TENON_OP_conv_backward_input, &backward, {dy, w}, {x});
    EXPECT_FALSE(dx.overran);
    const double left = dot(y[0], dy), right = dot(dx[0], x);
    EXPECT_NEAR(left, right, 1e-10 * (1 + std::fabs(left)));
  }
}

struct PoolCase {
  List x, kernel, steps, pads, dilations, y;
};
const PoolCase kPoolCases[] = {
    {{2, 3, 8, 8}, {2, 2}, {2, 2}, {0, 0, 0, 0}, {}, {2, 3, 4, 4}},
    {{2, 3, 9, 7}, {2, 2}, {2, 2}, {0, 0, 0, 0}, {}, {2, 3, 4, 3}},
    {{1, 2, 7, 8}, {3, 2}, {2, 1}, {1, 0, 1, 1}, {}, {1, 2, 4, 8}},
    {{1, 1, 10}, {3}, {2}, {1, 1}, {2}, {1, 1, 4}},
    {{1, 2, 4, 5, 6}, {2, 2, 3}, {1, 2, 2}, {0, 0, 1, 0, 0, 1}, {}, {1, 2, 3, 2, 3}},
};

TEST(CpuPool, AgreesWithRef) {
  for (const tenon_dtype dtype : {TENON_FLOAT32, TENON_FLOAT64, TENON_BFLOAT16, TENON_INT16}) {
    for (const PoolCase& c : kPoolCases) {
      const tenon_max_pool_attrs attrs{
          sizeof attrs,  c.kernel.data(), c.kernel.size(),    c.steps.data(),     c.steps.size(),
          c.pads.data(), c.pads.size(),   c.dilations.data(), c.dilations.size(), false};
      Tensor x = random_tensor(dtype, c.x, -3, 3);
      const Tensor y = zeros_of(dtype, c.y), i = zeros_of(TENON_INT64, c.y);
      const Launched want = ref().run(TENON_OP_max_pool, &attrs, {x}, {y, i});
      const Launched got = cpu().run(TENON_OP_max_pool, &attrs, {x}, {y, i});
      EXPECT_TRUE(same_values(got[0], want[0]));
      EXPECT_TRUE(same_values(got[1], want[1]));
      if (dtype == TENON_INT16) continue;  // window_sum is compared for floats only.
      const Launched want_sum = ref().run(TENON_OP_window_sum, &attrs, {x}, {y});
      const Launched got_sum = cpu().run(TENON_OP_window_sum, &attrs, {x}, {y});
      EXPECT_TRUE(close(got_sum[0], want_sum[0], tenon_sdk::size_of(dtype) == 2 ? 1e-2 : 1e-6));
    }
  }
}

TEST(CpuPool, MaximaOfSpecialValuesAgreeWithRef) {
  for (const PoolCase& c : kPoolCases) {
    const tenon_max_pool_attrs attrs{
        sizeof attrs,  c.kernel.data(), c.kernel.size(),    c.steps.data(),     c.steps.size(),
        c.pads.data(), c.pads.size(),   c.dilations.data(), c.dilations.size(), false};
    const auto n = static_cast<size_t>(tenon_sdk::count(c.x.size(), c.x.data()));
    std::vector<float> elements(n, -INFINITY);  // Some windows contain only -inf.
    const std::vector<float> specials = with_specials(random_elements<float>(n, -3, 3));
    std::copy_n(specials.begin(), n / 2, elements.begin());
    const Tensor x = tensor_of(elements, c.x);
    const Tensor y = zeros_of(TENON_FLOAT32, c.y), i = zeros_of(TENON_INT64, c.y);
    const Launched want = ref().run(TENON_OP_max_pool, &attrs, {x}, {y, i});
    const Launched got = cpu().run(TENON_OP_max_pool, &attrs, {x}, {y, i});
    EXPECT_TRUE(same_values(got[0], want[0]));
    EXPECT_TRUE(same_values(got[1], want[1]));
    const Launched values = cpu().run(TENON_OP_max_pool, &attrs, {x}, {y});
    EXPECT_TRUE(same_values(values[0], want[0]));
  }
}

TEST(CpuPool, BackwardAddsGradientsOfOverlappingWindows) {
  const Tensor dy = f32({1, 1, 3}, {1, 2, 4}), i = i64({1, 1, 3}, {1, 1, 3});
  const int64_t shape[] = {1, 1, 4};
  const tenon_max_pool_backward_attrs attrs{sizeof attrs, shape, 3};
  const Launched dx = cpu().run(TENON_OP_max_pool_backward, &attrs, {dy, i}, {f32({1, 1, 4}, {})});
  EXPECT_EQ(dx[0].numbers(), (Numbers{0, 3, 0, 4}));
}

TEST(CpuPool, BackwardAcceptsAnyValidIndexAndReportsInvalidOnes) {
  const Tensor dy = f32({1, 2, 2}, {1, 2, 4, 8}), i = i64({1, 2, 2}, {2, 0, 1, 9});
  const int64_t shape[] = {1, 2, 2};
  const tenon_max_pool_backward_attrs attrs{sizeof attrs, shape, 3};
  const Launched dx = cpu().run(TENON_OP_max_pool_backward, &attrs, {dy, i}, {f32({1, 2, 2}, {})});
  EXPECT_EQ(dx[0].numbers(), (Numbers{2, 4, 1, 0}));
  EXPECT_EQ(dx.record.index, 9);
}

TEST(CpuLoss, SparseCrossEntropyReturnsLossAndLogProbabilities) {
  const Tensor logits = f32({2, 3}, {1, 2, 3, 0, 0, 0}), labels = i64({2}, {1, 0});
  const Launched y = cpu().run(TENON_OP_sparse_softmax_cross_entropy, nullptr, {logits, labels},
                               {f32({}, {}), f32({2, 3}, {})});
  EXPECT_NEAR(y[0].numbers()[0], 1.2531091265562452, 1e-6);
  EXPECT_NEAR(y[1].numbers()[0], -2.4076059644443806, 1e-6);
}

TEST(CpuLoss, LabelOutsideTheClassesIsReported) {
  const Launched y =
      cpu().run(TENON_OP_sparse_softmax_cross_entropy, nullptr,
                {f32({1, 2}, {0, 0}), i32({1}, {5})}, {f32({}, {}), f32({1, 2}, {})});
  EXPECT_EQ(y[0].numbers()[0], 0);
  EXPECT_EQ(y.record.index, 5);
}

// ---- bits must not depend on layouts and threads ----------------------------------------------

struct Call {
  const char* name;
  uint32_t op;
  const void* attrs;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
};

constexpr int64_t kAxis1[] = {1}, kAxis0[] = {0}, kAxes02[] = {0, 2}, kPads[] = {1, 1, 1, 1};
constexpr tenon_sum_attrs kSum1{sizeof(tenon_sum_attrs), kAxis1, 1, false};
constexpr tenon_sum_attrs kSum0{sizeof(tenon_sum_attrs), kAxis0, 1, false};
constexpr tenon_sum_attrs kSum02{sizeof(tenon_sum_attrs), kAxes02, 2, false};
constexpr tenon_sum_attrs kSumAll{sizeof(tenon_sum_attrs), nullptr, 0, false};
constexpr tenon_conv_attrs kConv{
    sizeof(tenon_conv_attrs), nullptr, 0, kPads, 4, nullptr, 0, 1, nullptr, 0};
constexpr int64_t kFilterShape[] = {8, 4, 3, 3};
constexpr tenon_conv_backward_filter_attrs kFilter{sizeof(tenon_conv_backward_filter_attrs),
                                                   kFilterShape,
                                                   4,
                                                   nullptr,
                                                   0,
                                                   kPads,
                                                   4,
                                                   nullptr,
                                                   0,
                                                   1,
                                                   nullptr,
                                                   0};

constexpr tenon_layer_norm_attrs kLayerNorm{sizeof(tenon_layer_norm_attrs), 1, 1e-5};
constexpr tenon_rms_norm_attrs kRmsNorm{sizeof(tenon_rms_norm_attrs), -1, 1e-5};
constexpr tenon_group_norm_attrs kGroupNorm{sizeof(tenon_group_norm_attrs), 1e-5, 4};
constexpr tenon_attention_attrs kAttention{sizeof(tenon_attention_attrs), true, 0, 5};

std::vector<Call> calls() {
  const tenon_dtype f = TENON_FLOAT32;
  const auto random = [&](List sizes, uint64_t seed = 1) {
    return random_tensor(f, sizes, -2, 2, seed);
  };
  const auto zeros = [&](List sizes) { return zeros_of(f, sizes); };
  return {
      {"add",
       TENON_OP_add,
       nullptr,
       {random({301, 1001}), random({301, 1001}, 2)},
       {zeros({301, 1001})}},
      {"tanh", TENON_OP_tanh, nullptr, {random({301, 207})}, {zeros({301, 207})}},
      {"sin", TENON_OP_sin, nullptr, {random({33, 45})}, {zeros({33, 45})}},
      {"where",
       TENON_OP_where,
       nullptr,
       {random_tensor(TENON_BOOL, {33, 45}, 0, 1), random({33, 45}), random({33, 45}, 2)},
       {zeros({33, 45})}},
      {"copy", TENON_OP_copy, nullptr, {random({333, 250})}, {zeros({333, 250})}},
      {"sum of rows", TENON_OP_sum, &kSum1, {random({77, 9001})}, {zeros({77})}},
      {"sum of columns", TENON_OP_sum, &kSum0, {random({9001, 77})}, {zeros({77})}},
      {"sum of two axes", TENON_OP_sum, &kSum02, {random({64, 16, 200})}, {zeros({16})}},
      {"sum of all", TENON_OP_sum, &kSumAll, {random({900, 777})}, {zeros({})}},
      {"softmax", TENON_OP_softmax, nullptr, {random({700, 33})}, {zeros({700, 33})}},
      {"layer_norm",
       TENON_OP_layer_norm,
       &kLayerNorm,
       {random({90, 33, 150}), random({33, 1}, 2), random({150}, 3)},
       {zeros({90, 33, 150}), zeros({90, 1, 1}), zeros({90, 1, 1})}},
      {"rms_norm",
       TENON_OP_rms_norm,
       &kRmsNorm,
       {random({700, 133}), random({133}, 2)},
       {zeros({700, 133})}},
      {"group_norm",
       TENON_OP_group_norm,
       &kGroupNorm,
       {random({5, 12, 21, 20}), random({12}, 2), random({12}, 3)},
       {zeros({5, 12, 21, 20})}},
      {"gru_cell",
       TENON_OP_gru_cell,
       nullptr,
       {random({60, 70}), random({60, 110}, 2), random({330, 70}, 3), random({330, 110}, 4),
        random({660}, 5)},
       {zeros({60, 110})}},
      {"attention",
       TENON_OP_attention,
       &kAttention,
       {random({2, 4, 150, 20}), random({2, 2, 210, 20}, 2), random({2, 2, 210, 30}, 3),
        random_tensor(TENON_BOOL, {4, 150, 210}, 0, 1)},
       {zeros({2, 4, 150, 30})}},
      {"matmul",
       TENON_OP_matmul,
       nullptr,
       {random({300, 257}), random({257, 190}, 2)},
       {zeros({300, 190})}},
      {"large matmul",
       TENON_OP_matmul,
       nullptr,
       {random({800, 770}), random({770, 790}, 2)},
       {zeros({800, 790})}},
      {"batched matmul",
       TENON_OP_matmul,
       nullptr,
       {random({40, 33, 65}), random({40, 65, 31}, 2)},
       {zeros({40, 33, 31})}},
      {"conv",
       TENON_OP_conv,
       &kConv,
       {random({16, 4, 20, 20}), random({8, 4, 3, 3}, 2)},
       {zeros({16, 8, 20, 20})}},
      {"conv_backward_filter",
       TENON_OP_conv_backward_filter,
       &kFilter,
       {random({16, 4, 20, 20}), random({16, 8, 20, 20}, 2)},
       {zeros({8, 4, 3, 3})}},
  };
}

bool same_bits(const Tensor& a, const Tensor& b) { return a.bytes == b.bytes; }

TEST(CpuBits, ResultBitsDoNotDependOnTheMemoryLayout) {
  for (const Call& call : calls()) {
    const Launched want = cpu().run(call.op, call.attrs, call.inputs, call.outputs);
    for (size_t mask = 1; mask < size_t{1} << call.inputs.size(); ++mask) {
      std::vector<Tensor> inputs = call.inputs;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if ((mask >> i & 1) != 0) inputs[i] = scattered(inputs[i]);
      }
      const Launched got = cpu().run(call.op, call.attrs, inputs, call.outputs);
      EXPECT_TRUE(same_bits(got[0], want[0])) << call.name << ", mask " << mask;
    }
  }
}

TEST(CpuBits, ResultBitsDoNotDependOnTheNumberOfThreads) {
  const Plugin one(TENON_PLUGIN_FILE, 1);
  for (const uint32_t threads : {2u, 4u}) {
    const Plugin several(TENON_PLUGIN_FILE, threads);
    for (const Call& call : calls()) {
      const Launched want = one.run(call.op, call.attrs, call.inputs, call.outputs);
      const Launched got = several.run(call.op, call.attrs, call.inputs, call.outputs);
      EXPECT_FALSE(got.overran) << call.name;
      EXPECT_TRUE(same_bits(got[0], want[0])) << call.name << " on " << threads << " threads";
    }
  }
}

// Four tasks that wait for each other can end only on four threads, even if there are fewer cores.
TEST(CpuThreads, PluginRunsAsManyThreadsAsRequested) {
  if (cpu().calls().run_tasks == nullptr) GTEST_SKIP() << "built without threads";
  const Plugin several(TENON_PLUGIN_FILE, 4);
  std::atomic<int> n_running = 0;
  const auto wait_for_all = [](void* payload, size_t) {
    auto& n = *static_cast<std::atomic<int>*>(payload);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (++n; n < 4 && std::chrono::steady_clock::now() < end;) std::this_thread::yield();
    EXPECT_EQ(n, 4);
  };
  const tenon_tasks tasks = {.run = wait_for_all, .payload = &n_running, .n = 4};

  several.calls().run_tasks(several.stream(), &tasks);

  EXPECT_EQ(n_running, 4);
}

TEST(CpuBits, BroadcastOperandsGiveTheBitsOfCopies) {
  const Tensor x = random_tensor(TENON_FLOAT32, {6, 5, 40}, -2, 2);
  const Tensor b = random_tensor(TENON_FLOAT32, {6, 5, 40}, -2, 2, 2);
  for (const List& strides :
       {List{0, 0, 1}, List{0, 1, 0}, List{1, 0, 0}, List{40, 0, 1}, List{0, 0, 0}}) {
    Tensor copied = b;
    const tenon_sdk::Walk<2> walk(3, x.sizes.data(), {strides.data(), x.strides.data()});
    walk.elements([&](const auto& at) {
      std::memcpy(copied.bytes.data() + 4 * at[1], b.bytes.data() + 4 * at[0], 4);
    });
    const Tensor repeated = b.as({6, 5, 40}, strides);
    const Launched want = cpu().run(TENON_OP_mul, nullptr, {x, copied}, {x});
    const Launched got = cpu().run(TENON_OP_mul, nullptr, {x, repeated}, {x});
    EXPECT_TRUE(same_bits(got[0], want[0]));
    EXPECT_TRUE(same_bits(cpu().run(TENON_OP_mul, nullptr, {repeated, x}, {x})[0], want[0]));
  }
}

}  // namespace
}  // namespace tenon_simd
