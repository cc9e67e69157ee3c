#include "core/io/onnx/foreign/trees.h"

#include <cmath>

#include "core/testing/onnx_run.h"

namespace tenon::onnx {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.

class OnnxTrees : public OnnxRun {
 protected:
  // Node 0 compares feature 0 with 1. Its true branch is node 1, which compares feature 1 with 2.
  // Leaves 2, 3 and 4 have the weights 10, 20 and 30.
  static Trees two_nodes() {
    Trees trees;
    trees.set_leaves(3, 1);
    trees.nodes = {{.feature = 0, .split = 1, .when_true = 1, .when_false = 4},
                   {.feature = 1, .split = 2, .when_true = 2, .when_false = 3}};
    for (int64_t i = 0; i < 3; ++i) trees.add_weight(i, 0, 10.0 * static_cast<double>(i + 1));
    trees.roots = {0};
    return trees;
  }
  static WireWriter texts_attribute(const std::string& name,
                                    const std::vector<std::string>& values) {
    WireWriter attribute;
    attribute.text(1, name);
    for (const std::string& value : values) attribute.text(9, value);
    return attribute.number(20, 8);
  }
  static WireWriter floats_attribute(const std::string& name, const std::vector<float>& values) {
    WireWriter attribute;
    attribute.text(1, name);
    for (const float value : values) attribute.real(7, value);
    return attribute.number(20, 6);
  }
};

TEST_F(OnnxTrees, RowsFollowTheComparisons) {
  const Trees trees = two_nodes();
  const Tensor x = f32({4, 2}, {1, 2, 1, 3, 2, 0, NAN, 0});

  EXPECT_TENSOR(evaluate_trees(trees, x, TreeSum::kSum), f32({4, 1}, {10, 20, 30, 30}));
}

TEST_F(OnnxTrees, NaNFollowsTheTrueBranchIfTheNodeSaysSo) {
  Trees trees = two_nodes();
  trees.nodes[0].nan_is_true = true;

  EXPECT_TENSOR(evaluate_trees(trees, f32({1, 2}, {NAN, 0}), TreeSum::kSum), f32({1, 1}, {10}));
}

TEST_F(OnnxTrees, TheSumOfTreesIsTheirTotalMeanOrBound) {
  Trees trees = two_nodes();
  trees.roots = {0, 4};  // The second tree is the leaf with the weight 30.
  const Tensor x = f32({1, 2}, {0, 0});

  EXPECT_TENSOR(evaluate_trees(trees, x, TreeSum::kSum), f32({1, 1}, {40}));
  EXPECT_TENSOR(evaluate_trees(trees, x, TreeSum::kAverage), f32({1, 1}, {20}));
  EXPECT_TENSOR(evaluate_trees(trees, x, TreeSum::kMin), f32({1, 1}, {10}));
  EXPECT_TENSOR(evaluate_trees(trees, x, TreeSum::kMax), f32({1, 1}, {30}));
}

TEST_F(OnnxTrees, TargetsWithoutAWeightHaveScoreZero) {
  Trees trees = two_nodes();
  trees.set_leaves(3, 2);
  for (int64_t i = 0; i < 3; ++i) trees.add_weight(i, 1, -5);

  EXPECT_TENSOR(evaluate_trees(trees, f32({1, 2}, {0, 0}), TreeSum::kMax), f32({1, 2}, {0, -5}));
}

TEST_F(OnnxTrees, CyclesAndMissingNodesAreErrors) {
  Trees cycle = two_nodes(), missing = two_nodes(), beyond = two_nodes();
  cycle.nodes[1].when_true = 0;
  missing.nodes[1].when_true = 5;
  beyond.nodes[1].feature = 2;
  const Tensor x = f32({1, 2}, {0, 0});

  EXPECT_ERROR(evaluate_trees(cycle, x, TreeSum::kSum), Code::kDataLoss,
               "node 0 of a tree is its own descendant");
  EXPECT_ERROR(evaluate_trees(missing, x, TreeSum::kSum), Code::kDataLoss,
               "a child of node 1 of a tree is 5, but must be in [0, 5)");
  EXPECT_ERROR(evaluate_trees(beyond, x, TreeSum::kSum), Code::kInvalidArgument,
               "a node of a tree reads feature 2");
}

// A recursive search for the depth would overflow the stack.
TEST_F(OnnxTrees, AChainOfAHundredThousandNodesIsEvaluated) {
  constexpr int64_t kNodes = 100000;
  Trees trees;
  trees.set_leaves(1, 1);
  trees.add_weight(0, 0, 3);
  for (int64_t i = 0; i < kNodes; ++i) {
    trees.nodes.push_back({.split = 0, .when_true = i + 1, .when_false = kNodes});
  }
  trees.roots = {0};

  EXPECT_TENSOR(evaluate_trees(trees, f32({1, 1}, {1}), TreeSum::kSum), f32({1, 1}, {3}));
}

TEST_F(OnnxTrees, RegressorsReadKeyedNodes) {
  WireWriter regressor = node(
      "TreeEnsembleRegressor", {"x"}, {"y"},
      {ints_attribute("nodes_treeids", {0, 0, 0}), ints_attribute("nodes_nodeids", {0, 7, 9}),
       ints_attribute("nodes_featureids", {0, 0, 0}),
       texts_attribute("nodes_modes", {"BRANCH_LT", "LEAF", "LEAF"}),
       floats_attribute("nodes_values", {0.5, 0, 0}),
       ints_attribute("nodes_truenodeids", {7, 0, 0}),
       ints_attribute("nodes_falsenodeids", {9, 0, 0}), ints_attribute("target_treeids", {0, 0}),
       ints_attribute("target_nodeids", {7, 9}), ints_attribute("target_ids", {0, 0}),
       floats_attribute("target_weights", {-1, 4}), floats_attribute("base_values", {100})});
  regressor.text(7, "ai.onnx.ml");

  EXPECT_TENSOR(run_node(regressor, {f32({2, 1}, {0.25, 0.5})}), f32({2, 1}, {99, 104}));
}

TEST_F(OnnxTrees, SupportVectorMachinesAddTheirKernels) {
  WireWriter svm = node(
      "SVMRegressor", {"x"}, {"y"},
      {text_attribute("kernel_type", "POLY"), floats_attribute("kernel_params", {1, 1, 2}),
       floats_attribute("support_vectors", {1, 0, 0, 2}), floats_attribute("coefficients", {1, -1}),
       floats_attribute("rho", {0.5}), int_attribute("n_supports", 2)});
  svm.text(7, "ai.onnx.ml");

  // (1 * 3 + 1)^2 - (2 * 1 + 1)^2 + 0.5.
  EXPECT_TENSOR(run_node(svm, {f32({1, 2}, {3, 1})}), f32({1, 1}, {7.5}));
}

}  // namespace
}  // namespace tenon::onnx
