// Epilogue fusion: a matmul and the elementwise work on its result run as one launch.

#include "core/testing/launch_plans.h"

namespace tenon {
namespace {

using EpilogueFusion = testing::LaunchPlanTest;

Tensor dense(const Tensor& x, const Tensor& w, const Tensor& bias) { return matmul(x, w) + bias; }

TEST_P(EpilogueFusion, FusesADenseLayerIntoOneLaunch) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    return Tensors{relu(dense(in[0], in[1], in[2]))};
  };
  EXPECT_EQ(expect_same(code, {Dims{3, 4}, Dims{4, 5}, Dims{5}}), 1u);
  EXPECT_EQ(expect_same(code, {Dims{1, 1}, Dims{1, 1}, Dims{1}}), 1u);
  EXPECT_EQ(expect_same(code, {Dims{2, 0}, Dims{0, 5}, Dims{5}}), 1u);
  EXPECT_EQ(expect_same(code, {Dims{0, 4}, Dims{4, 5}, Dims{5}}), 1u);
  EXPECT_EQ(expect_same(code, {Dims{2, 3, 4}, Dims{2, 4, 5}, Dims{2, 1, 5}}), 1u);
}

TEST_P(EpilogueFusion, CanReturnIntermediateValuesOfTheEpilogue) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor z = matmul(in[0], in[1]), y = tanh(z), s = y * y;
    return Tensors{s, y, z, s + in[2]};
  };
  EXPECT_EQ(expect_same(code, {Dims{3, 4}, Dims{4, 5}, Dims{3, 5}}), 1u);
}

// An elementwise launch over the anchor's output shape becomes part of the epilogue, even if it
// precedes the anchor.
TEST_P(EpilogueFusion, FusesElementwiseLaunchesIssuedBeforeTheAnchor) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor before = exp(in[2]);
    return Tensors{matmul(in[0], in[1]) * before + before};
  };
  EXPECT_EQ(expect_same(code, {Dims{3, 4}, Dims{4, 5}, Dims{3, 5}}), 1u);
}

TEST_P(EpilogueFusion, DoesNotFuseProducersOfAnchorInputs) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    return Tensors{tanh(matmul(exp(in[0]), in[1]))};
  };
  EXPECT_EQ(expect_same(code, {Dims{3, 4}, Dims{4, 5}}), 2u);
}

TEST_P(EpilogueFusion, UsesOneAnchorPerLaunch) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    return Tensors{tanh(matmul(in[0], in[1]) + matmul(in[0], in[2]))};
  };
  EXPECT_EQ(expect_same(code, {Dims{3, 4}, Dims{4, 5}, Dims{4, 5}}), 2u);
  const LaunchPlan::Code twice = [](TensorSpan in) {
    return Tensors{tanh(matmul(tanh(matmul(in[0], in[1])), in[2]))};
  };
  EXPECT_EQ(expect_same(twice, {Dims{3, 4}, Dims{4, 5}, Dims{5, 6}}), 2u);
}

TEST_P(EpilogueFusion, DoesNotFuseRowReductionsOrOtherShapes) {
  const LaunchPlan::Code rows = [](TensorSpan in) {
    return Tensors{softmax(matmul(in[0], in[1]) + in[2], -1)};
  };
  EXPECT_EQ(expect_same(rows, {Dims{3, 4}, Dims{4, 5}, Dims{5}}), 2u);
  const LaunchPlan::Code wider = [](TensorSpan in) {
    return Tensors{matmul(in[0], in[1]) + in[2]};
  };
  EXPECT_EQ(expect_same(wider, {Dims{3, 4}, Dims{4, 5}, Dims{2, 3, 5}}), 2u);
  const LaunchPlan::Code turned = [](TensorSpan in) {
    return Tensors{tanh(transpose(matmul(in[0], in[1])))};
  };
  EXPECT_EQ(expect_same(turned, {Dims{3, 4}, Dims{4, 5}}), 2u);
}

// The second matmul reads the result of the first one. It runs before the tanh, which could be the
// epilogue of the first one.
TEST_P(EpilogueFusion, DoesNotDelayOtherReadersOfTheAnchorsResult) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor z = matmul(in[0], in[1]);
    const Tensor other = matmul(z, in[2]);
    return Tensors{tanh(z) + other};
  };
  expect_same(code, {Dims{3, 4}, Dims{4, 5}, Dims{5, 5}});
}

TEST_P(EpilogueFusion, PlanWithAFusedAnchorCountsAsExpensive) {
  const Tensors in = {numbers({3, 4}, 1), numbers({4, 5}, 2), numbers({5}, 3)};
  const LaunchPlan::Code layer = [](TensorSpan x) { return Tensors{dense(x[0], x[1], x[2])}; };
  EXPECT_FALSE(record(layer, in)->is_light());
  const LaunchPlan::Code mean_of_squares = [](TensorSpan x) {
    return Tensors{mean(x[0] * x[0]) * 2.0};
  };
  EXPECT_TRUE(record(mean_of_squares, in)->is_light());
}

INSTANTIATE_TEST_SUITE_P(, EpilogueFusion, ::testing::Values("ref"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tenon
