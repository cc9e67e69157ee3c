// Decision trees of ai.onnx.ml, evaluated with Tenon's ops. adapters_trees.cc reads the attributes
// of the three ops of trees into this form.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ops/definition/formulas.h"

namespace tenon::onnx {

// Comparisons of nodes, numbered as in TreeEnsemble.
enum class TreeMode : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember };
inline constexpr uint8_t kTreeModes = 7;

enum class TreeSum : uint8_t { kAverage, kSum, kMin, kMax };

// Interior nodes are numbered first, then leaves. A leaf is its own child.
struct Trees {
  struct Node {
    int64_t feature = 0;
    double split = 0;
    TreeMode mode = TreeMode::kLeq;
    bool nan_is_true = false;  // Whether NaN follows the true branch.
    int64_t when_true = 0, when_false = 0;
    std::vector<double> members;  // For kMember: the values of the true branch.
  };
  std::vector<Node> nodes;     // The interior nodes.
  std::vector<int64_t> roots;  // One node for each tree; may be a leaf.
  int64_t n_leaves = 0, n_targets = 1;
  // [n_leaves, n_targets]: the weights, and whether the leaf has a weight for the target.
  std::vector<double> weights;
  std::vector<bool> has_weight;

  // Allocates the weights. Throws if there are too many.
  void set_leaves(int64_t leaves, int64_t targets);
  // Adds a weight. Throws unless leaf and target are in range.
  void add_weight(int64_t leaf, int64_t target, double weight);
};

// Returns the scores [N, n_targets] of the rows of x, which is [N, features] and float32 or
// float64. A target without a weight in any leaf of a row has score 0. Throws DATA_LOSS if a child
// is out of range, or if nodes form a cycle.
Tensor evaluate_trees(const Trees& trees, const Tensor& x, TreeSum sum);

// Applies a post_transform of ai.onnx.ml to scores [N, classes]: NONE, SOFTMAX, LOGISTIC,
// SOFTMAX_ZERO or PROBIT.
Tensor transform_scores(const Tensor& scores, const std::string& transform);

}  // namespace tenon::onnx
