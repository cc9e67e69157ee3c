#include "core/io/onnx/foreign/trees.h"

#include <algorithm>
#include <cmath>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/named_call.h"
#include "core/trace/control/control.h"

namespace tenon::onnx {
namespace {

// Maximum number of elements of a table of leaves or of members.
constexpr int64_t kMaxTable = int64_t{1} << 26;

// Returns the largest number of interior nodes on a path from a root to a leaf.
int64_t depth_of(const Trees& trees) {
  const auto n = static_cast<int64_t>(trees.nodes.size()), all = n + trees.n_leaves;
  constexpr int64_t kNew = -1, kUnderWay = -2;
  std::vector<int64_t> depths(static_cast<size_t>(n), kNew);
  const auto depth = [&](int64_t node) { return node < n ? depths[static_cast<size_t>(node)] : 0; };
  int64_t deepest = 0;
  std::vector<int64_t> stack;  // Explicit, because a chain of nodes may be long.
  for (const int64_t root : trees.roots) {
    require_code(root >= 0 && root < all, Code::kDataLoss,
                 "the root {} of a tree must be in [0, {})", root, all);
    if (depth(root) == kNew) stack.push_back(root);
    while (!stack.empty()) {
      const int64_t at = stack.back();
      const Trees::Node& node = trees.nodes[static_cast<size_t>(at)];
      int64_t& known = depths[static_cast<size_t>(at)];
      if (known == kNew) {
        known = kUnderWay;
        for (const int64_t child : {node.when_true, node.when_false}) {
          require_code(child >= 0 && child < all, Code::kDataLoss,
                       "a child of node {} of a tree is {}, but must be in [0, {})", at, child,
                       all);
          require_code(depth(child) != kUnderWay, Code::kDataLoss,
                       "node {} of a tree is its own descendant", child);
          if (depth(child) == kNew) stack.push_back(child);
        }
      } else {
        if (known == kUnderWay) {
          known = 1 + std::max(depth(node.when_true), depth(node.when_false));
        }
        stack.pop_back();
      }
    }
    deepest = std::max(deepest, depth(root));
  }
  return deepest;
}

// Uploads one value for each node and leaf. `of(node)` returns the value of an interior node, and
// leaves have 0.
template <class Of>
Tensor upload_nodes(const Trees& trees, DType dtype, const Of& of) {
  std::vector<double> values;
  for (const Trees::Node& node : trees.nodes) values.push_back(static_cast<double>(of(node)));
  values.resize(values.size() + static_cast<size_t>(trees.n_leaves), 0);
  Scope& scope = current_scope();
  const Dims shape = {static_cast<int64_t>(values.size())};
  return cast(from_host(scope, scope.device(), TensorType(DType::kF64, shape), values.data()),
              dtype);
}

// Uploads the child of each node for one outcome of the comparison. A leaf is its own child.
Tensor upload_children(const Trees& trees, int64_t Trees::Node::*child) {
  std::vector<int64_t> values;
  for (const Trees::Node& node : trees.nodes) values.push_back(node.*child);
  for (int64_t i = 0; i < trees.n_leaves; ++i) {
    values.push_back(static_cast<int64_t>(trees.nodes.size()) + i);
  }
  Scope& scope = current_scope();
  const Dims shape = {static_cast<int64_t>(values.size())};
  return from_host(scope, scope.device(), TensorType(DType::kI64, shape), values.data());
}

// Uploads the members of each node's set as a row, padded with NaN, which equals nothing.
Tensor upload_members(const Trees& trees, DType dtype) {
  size_t width = 1;
  for (const Trees::Node& node : trees.nodes) width = std::max(width, node.members.size());
  const size_t rows = trees.nodes.size() + static_cast<size_t>(trees.n_leaves);
  require_code(static_cast<int64_t>(width) <= kMaxTable / static_cast<int64_t>(rows),
               Code::kUnimplemented, "a tree has a set of {} members, too many for {} nodes", width,
               rows);
  std::vector<double> values(rows * width, NAN);
  for (size_t i = 0; i < trees.nodes.size(); ++i) {
    std::copy(trees.nodes[i].members.begin(), trees.nodes[i].members.end(),
              values.begin() + static_cast<ptrdiff_t>(i * width));
  }
  Scope& scope = current_scope();
  const Dims shape = {static_cast<int64_t>(rows), static_cast<int64_t>(width)};
  return cast(from_host(scope, scope.device(), TensorType(DType::kF64, shape), values.data()),
              dtype);
}

// Decides for each row and tree whether its current node follows the true branch.
class Comparison {
 public:
  Comparison(const Trees& trees, DType dtype)
      : features_(upload_nodes(trees, DType::kI64, [](const auto& node) { return node.feature; })),
        splits_(upload_nodes(trees, dtype, [](const auto& node) { return node.split; })) {
    bool has_nan = false;
    for (const Trees::Node& node : trees.nodes) {
      uses_[static_cast<size_t>(node.mode)] = true;
      has_nan = has_nan || node.nan_is_true;
    }
    if (std::count(std::begin(uses_), std::end(uses_), true) > 1) {
      modes_ = upload_nodes(trees, DType::kI32,
                            [](const auto& node) { return static_cast<int>(node.mode); });
    }
    if (has_nan) {
      nan_is_true_ =
          upload_nodes(trees, DType::kBool, [](const auto& node) { return node.nan_is_true; });
    }
    if (uses_[static_cast<size_t>(TreeMode::kMember)]) members_ = upload_members(trees, dtype);
  }

  Tensor operator()(const Tensor& x, const Tensor& at) const {
    const Tensor value = gather_elements(x, gather(features_, at, 0), 1);
    const Tensor split = gather(splits_, at, 0);
    const Tensor mode = modes_ ? gather(modes_, at, 0) : Tensor();
    Tensor taken;
    for (uint8_t i = 0; i < kTreeModes; ++i) {
      if (!uses_[i]) continue;
      const Tensor one = compare(static_cast<TreeMode>(i), value, split, at);
      taken = taken ? where(equal(mode, integer(i)), one, taken) : one;
    }
    if (!nan_is_true_) return taken;
    return logical_or(taken, logical_and(isnan(value), gather(nan_is_true_, at, 0)));
  }

 private:
  Tensor compare(TreeMode mode, const Tensor& value, const Tensor& split, const Tensor& at) const {
    switch (mode) {
      case TreeMode::kLeq:
        return less_equal(value, split);
      case TreeMode::kLt:
        return less(value, split);
      case TreeMode::kGte:
        return greater_equal(value, split);
      case TreeMode::kGt:
        return greater(value, split);
      case TreeMode::kEq:
        return equal(value, split);
      case TreeMode::kNeq:
        return not_equal(value, split);
      case TreeMode::kMember:
        break;
    }
    const Tensor hits = equal(expand_dims(value, {2}), gather(members_, at, 0));
    return greater(sum(cast(hits, DType::kI32), {.axes = {2}}), integer(0));
  }

  Tensor features_, splits_, modes_, nan_is_true_, members_;
  bool uses_[kTreeModes] = {};
};

// Returns the leaf of each row and tree, [N, trees].
Tensor find_leaves(const Trees& trees, const Tensor& x) {
  const int64_t depth = depth_of(trees);
  Scope& scope = current_scope();
  const auto n_trees = static_cast<int64_t>(trees.roots.size());
  const Tensor roots =
      from_host(scope, scope.device(), TensorType(DType::kI64, {1, n_trees}), trees.roots.data());
  Tensor at = broadcast_to(roots, {x->shape()[0], n_trees});
  if (depth > 0) {
    const Comparison is_true(trees, x->type.dtype);
    const Tensor when_true = upload_children(trees, &Trees::Node::when_true);
    const Tensor when_false = upload_children(trees, &Trees::Node::when_false);
    const Tensor carried[] = {fill(integer(0), Dims{}, DType::kI64), at};
    at = while_loop(
        scope, [&](TensorSpan in) { return Tensors{less(in[0], integer(depth))}; },
        [&](TensorSpan in) {
          const Tensor next =
              where(is_true(x, in[1]), gather(when_true, in[1], 0), gather(when_false, in[1], 0));
          return Tensors{in[0] + integer(1), next};
        },
        carried)[1];
  }
  return at - integer(static_cast<int64_t>(trees.nodes.size()));
}

}  // namespace

void Trees::set_leaves(int64_t leaves, int64_t targets) {
  require(targets > 0 && targets <= kMaxTable,
          "the number of targets must be in [1, {}], but is {}", kMaxTable, targets);
  require(leaves > 0, "trees must have at least one leaf");
  require_code(leaves <= kMaxTable / targets, Code::kUnimplemented,
               "trees with {} leaves and {} targets are too large", leaves, targets);
  n_leaves = leaves;
  n_targets = targets;
  weights.assign(static_cast<size_t>(leaves * targets), 0);
  has_weight.assign(weights.size(), false);
}

void Trees::add_weight(int64_t leaf, int64_t target, double weight) {
  require(leaf >= 0 && leaf < n_leaves, "a weight belongs to leaf {}, but there are {}", leaf,
          n_leaves);
  require(target >= 0 && target < n_targets, "a weight belongs to target {}, but there are {}",
          target, n_targets);
  const auto at = static_cast<size_t>(leaf * n_targets + target);
  weights[at] += weight;
  has_weight[at] = true;
}

Tensor evaluate_trees(const Trees& trees, const Tensor& x, TreeSum how) {
  require(x->rank() == 2, "X must have two axes, but is {}", x->type);
  require(!trees.roots.empty(), "there are no trees");
  for (const Trees::Node& node : trees.nodes) {
    require(node.feature >= 0 && x->shape()[1] > node.feature,
            "a node of a tree reads feature {}, but X is {}", node.feature, x->type);
  }
  const Tensor leaves = find_leaves(trees, x);
  const DType dtype = x->type.dtype;
  Scope& scope = current_scope();
  const bool is_bound = how == TreeSum::kMin || how == TreeSum::kMax;
  const double absent = how == TreeSum::kMin ? INFINITY : how == TreeSum::kMax ? -INFINITY : 0;
  std::vector<double> weights = trees.weights, marks(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    marks[i] = trees.has_weight[i] ? 1 : 0;
    if (!trees.has_weight[i]) weights[i] = absent;
  }
  const TensorType table(DType::kF64, {trees.n_leaves, trees.n_targets});
  const auto of_leaves = [&](const std::vector<double>& values) {
    return gather(cast(from_host(scope, scope.device(), table, values.data()), dtype), leaves, 0);
  };
  const Along each_tree = {.axes = {1}};
  const Tensor found = of_leaves(weights);
  if (is_bound) {
    const Tensor bound = how == TreeSum::kMin ? min(found, each_tree) : max(found, each_tree);
    const Tensor has_score = greater(max(of_leaves(marks), each_tree), number(0));
    return where(has_score, bound, number(0));
  }
  const Tensor total = sum(found, each_tree);
  return how == TreeSum::kAverage ? total / static_cast<double>(trees.roots.size()) : total;
}

Tensor transform_scores(const Tensor& scores, const std::string& transform) {
  if (transform == "NONE") return scores;
  if (transform == "SOFTMAX") return softmax(scores, 1);
  if (transform == "LOGISTIC") return sigmoid(scores);
  if (transform == "PROBIT") {
    return call_named1("erfinv", {}, {scores * 2.0 - 1.0}) * std::sqrt(2.0);
  }
  require(transform == "SOFTMAX_ZERO",
          "attribute post_transform must be \"NONE\", \"SOFTMAX\", \"LOGISTIC\", \"SOFTMAX_ZERO\" "
          "or \"PROBIT\", but is \"{}\"",
          transform);
  // Scores near 0 have no part in the sum, and are only scaled.
  const Along row = {.axes = {1}, .keepdims = true};
  const Tensor greatest = max(scores, row);
  const Tensor counts = greater(abs(scores), number(1e-7));
  const Tensor powers = where(counts, exp(scores - greatest), number(0));
  return where(counts, powers, scores * exp(neg(greatest))) / sum(powers, row);
}

}  // namespace tenon::onnx
