// Row fusion: reductions over rows and the launches that read them run as one launch.

#include "core/testing/launch_plans.h"

namespace tenon {
namespace {

using testing::values_of;

const Along kRows = {.axes = {-1}, .keepdims = true};

Tensor softmax_by_hand(const Tensor& x) {
  const Tensor e = exp(x - max(x, kRows));
  return e / sum(e, kRows);
}
Tensor log_softmax_by_hand(const Tensor& x) {
  const Tensor shifted = x - max(x, kRows);
  return shifted - log(sum(exp(shifted), kRows));
}
Tensor layer_norm_by_hand(const Tensor& x, const Tensor& scale, const Tensor& bias) {
  const Tensor centered = x - mean(x, kRows);
  const Tensor inv_std = rsqrt(mean(square(centered), kRows) + number(1e-5));
  return centered * inv_std * scale + bias;
}
Tensor losses(const Tensor& x, const Tensor& labels) {
  return -sum(labels * log_softmax_by_hand(x), {.axes = {-1}});
}

class RowFusion : public testing::LaunchPlanTest {
 protected:
  bool is_cpu() const { return std::string_view(GetParam()) == "cpu"; }
};

TEST_P(RowFusion, FusesASoftmaxIntoOneLaunch) {
  const LaunchPlan::Code code = [](TensorSpan in) { return Tensors{softmax_by_hand(in[0])}; };
  for (const int64_t n : {1, 3, 1000, 5000}) {
    SCOPED_TRACE(n);
    EXPECT_EQ(expect_same(code, {Dims{7, n}}), 1u);
  }
  EXPECT_EQ(expect_same(code, {Dims{2, 3, 4}}), 1u);
  EXPECT_EQ(expect_same(code, {Dims{6}}), 1u);
  EXPECT_EQ(expect_same(code, {Dims{0, 4}}), 1u);
}

// A reduction reads an input that is broadcast along the rows once for each element of the row.
TEST_P(RowFusion, AcceptsInputsBroadcastAlongRows) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor x = broadcast_to(in[0], Dims{1, 3, 4});
    return Tensors{softmax_by_hand(x), softmax_by_hand(x + exp(x)), sum(exp(in[0] + x), kRows)};
  };
  expect_same(code, {Dims{1, 3, 1}});
  expect_same(code, {Dims{1}});
}

TEST_P(RowFusion, FusesALogSoftmaxIntoOneLaunch) {
  EXPECT_EQ(
      expect_same([](TensorSpan in) { return Tensors{log_softmax_by_hand(in[0])}; }, {Dims{5, 33}}),
      1u);
}

TEST_P(RowFusion, FusesALayerNormIntoOneLaunch) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    return Tensors{layer_norm_by_hand(in[0], in[1], in[2])};
  };
  for (const int64_t n : {0, 1, 3, 1000, 5000}) {
    SCOPED_TRACE(n);
    EXPECT_EQ(expect_same(code, {Dims{7, n}, Dims{n}, Dims{n}}), 1u);
  }
}

// Forward and backward pass in one plan.
TEST_P(RowFusion, FusesForwardAndBackwardPass) {
  const auto slope = [&](const Tensor& x, const Tensor& dy, const auto& f) {
    const auto t = tape();
    t->watch(x);
    const Tensor y = f(x);
    return t->gradient({&y, 1}, {&dy, 1}, std::vector<Source>{x});
  };
  for (const int64_t n : {3, 1000}) {
    SCOPED_TRACE(n);
    const auto by_softmax = [&](TensorSpan in) { return slope(in[0], in[1], softmax_by_hand); };
    // The gradient of the maximum needs a fifth stage.
    EXPECT_EQ(expect_same(by_softmax, {Dims{7, n}, Dims{7, n}}), 2u);
    const auto by_norm = [&](TensorSpan in) {
      return slope(in[0], in[1],
                   [&](const Tensor& x) { return layer_norm_by_hand(x, in[2], in[2]); });
    };
    EXPECT_EQ(expect_same(by_norm, {Dims{7, n}, Dims{7, n}, Dims{n}}), 1u);
  }
}

// The derivatives of the ops, computed from the residuals of the forward pass.
TEST_P(RowFusion, FusesDerivativesOfOpsIntoOneLaunch) {
  const auto of_softmax = [](TensorSpan in) {
    const Tensor &y = in[0], &dy = in[1];
    return Tensors{y * (dy - sum(dy * y, kRows))};
  };
  EXPECT_EQ(expect_same(of_softmax, {Dims{7, 100}, Dims{7, 100}}), 1u);
  const auto of_layer_norm = [](TensorSpan in) {
    const Tensor z = (in[0] - in[1]) * in[2], dz = in[3] * in[4];
    return Tensors{(dz - mean(dz, kRows) - z * mean(dz * z, kRows)) * in[2]};
  };
  EXPECT_EQ(
      expect_same(of_layer_norm, {Dims{7, 100}, Dims{7, 1}, Dims{7, 1}, Dims{7, 100}, Dims{100}}),
      1u);
}

TEST_P(RowFusion, FusesLossesIntoOneLaunch) {
  EXPECT_EQ(expect_same([](TensorSpan in) { return Tensors{losses(in[0], in[1])}; },
                        {Dims{40, 10}, Dims{40, 10}}),
            1u);
  // The sum reduces the other axis, so it is a launch of its own.
  EXPECT_EQ(expect_same([](TensorSpan in) { return Tensors{sum(losses(in[0], in[1]))}; },
                        {Dims{40, 10}, Dims{40, 10}}),
            2u);
}

TEST_P(RowFusion, PropagatesNaNAndInfinity) {
  const Tensor x = testing::make(DType::kF32, Dims{4, 3},
                                 {1, NAN, 2, INFINITY, 1, 0, -INFINITY, 1, 2, -0.0, 0, -0.0});
  const auto by_softmax = [](TensorSpan in) { return Tensors{softmax_by_hand(in[0])}; };
  EXPECT_EQ(expect_same(by_softmax, {Tensors{numbers(Dims{4, 3}, 1)}, Tensors{x}}), 1u);
  const auto by_norm = [](TensorSpan in) {
    return Tensors{layer_norm_by_hand(in[0], in[0], in[0])};
  };
  EXPECT_EQ(expect_same(by_norm, {Tensors{numbers(Dims{4, 3}, 1)}, Tensors{x}}), 1u);
}

TEST_P(RowFusion, AcceptsRowValuesWithKeptOrRemovedAxes) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor y = sum(in[0] * in[0], {.axes = {1}});
    const Tensor root = sqrt(y * in[1]);
    return Tensors{in[0] / reshape(root, Dims{5, 1}), root, reshape(y, Dims{5, 1}) + in[2],
                   in[0] - in[2]};
  };
  EXPECT_EQ(expect_same(code, {Dims{5, 8}, Dims{5}, Dims{5, 1}}), 1u);
}

TEST_P(RowFusion, FusesCastsBeforeAndAfterReductions) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor x = cast(in[0], DType::kF32), m = mean(x, kRows);
    return Tensors{cast(x - m, DType::kF16), max(cast(x, DType::kI32), kRows),
                   cast(m, DType::kF64)};
  };
  const auto halves = [&](double seed) { return Tensors{numbers(Dims{6, 50}, seed, DType::kF16)}; };
  EXPECT_EQ(expect_same(code, {halves(1), halves(2)}), 1u);
}

// A launch has at most four stages.
TEST_P(RowFusion, SplitsLaunchesWithTooManyStages) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    Tensor x = in[0];
    for (int i = 0; i < 9; ++i) x = x * sum(x, kRows);
    return Tensors{x};
  };
  EXPECT_EQ(expect_same(code, {Dims{3, 5}}), 3u);
}

// A stage has at most four reductions.
TEST_P(RowFusion, SplitsStagesWithTooManyReductions) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    Tensors sums;
    for (int i = 0; i < 6; ++i) sums.push_back(sum(in[0] * number(i), kRows));
    return sums;
  };
  EXPECT_EQ(expect_same(code, {Dims{3, 5}}), 2u);
}

// `cpu` supports only rows that include the last axis. The launches around such a reduction are
// still fused.
TEST_P(RowFusion, ExcludesReductionsThatTheDeviceRejects) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor y = exp(in[0]) * in[1];
    return Tensors{y - max(y, kRows), sum(y, {.axes = {0}})};
  };
  EXPECT_EQ(expect_same(code, {Dims{4, 5}, Dims{4, 5}}), 2u);
  const LaunchPlan::Code columns = [](TensorSpan in) {
    const Tensor y = exp(in[0]) * in[1];
    return Tensors{y - sum(y, {.axes = {0}, .keepdims = true})};
  };
  EXPECT_EQ(expect_same(columns, {Dims{4, 5}, Dims{4, 5}}), is_cpu() ? 3u : 1u);
}

TEST_P(RowFusion, DoesNotFuseLongRows) {
  const LaunchPlan::Code code = [](TensorSpan in) { return Tensors{in[0] - sum(in[0], kRows)}; };
  EXPECT_EQ(expect_same(code, {Dims{2, 32 * 1024}}), 1u);
  EXPECT_EQ(expect_same(code, {Dims{2, 32 * 1024 + 1}}), 2u);
}

// A launch cannot be fused if it reads the value of a row in other rows.
TEST_P(RowFusion, DoesNotFuseReadsAcrossRows) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor y = sum(in[0], {.axes = {1}});
    return Tensors{in[0] + y, in[0] * reshape(y, Dims{4, 1})};
  };
  EXPECT_EQ(expect_same(code, {Dims{4, 4}}), 2u);
}

TEST_P(RowFusion, DoesNotOverwriteInputsThatALaterStageReads) {
  const auto program = record(
      [](TensorSpan in) {
        const Tensor y = -in[0];
        return Tensors{y, in[0] * sum(y, kRows)};
      },
      Tensors{testing::f32(Dims{2, 2}, {1, 2, 3, 4})});
  const uint8_t one_owner[] = {1};
  const Tensors y =
      program->run(scope(), Tensors{testing::f32(Dims{2, 2}, {1, 2, 3, 4})}, one_owner);
  EXPECT_EQ(values_of(y[0]), (std::vector<double>{-1, -2, -3, -4}));
  EXPECT_EQ(values_of(y[1]), (std::vector<double>{-3, -6, -21, -28}));
}

// Returns the devices that are part of the build.
std::vector<const char*> devices() {
  std::vector<const char*> names = {"ref"};
  if (testing::has_plugin("cpu")) names.push_back("cpu");
  return names;
}

INSTANTIATE_TEST_SUITE_P(Devices, RowFusion, ::testing::ValuesIn(devices()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tenon
