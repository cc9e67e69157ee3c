// Trees of ai.onnx.ml: TreeEnsemble, and the older TreeEnsembleRegressor and
// TreeEnsembleClassifier. trees.h evaluates them.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/foreign/foreign.h"
#include "core/io/onnx/foreign/trees.h"

namespace tenon::onnx::adapters {
namespace {

// Casts the features to the dtype in which trees compare: float64 stays, all others become float32.
Tensor features_of(const NodeCall& n) {
  const Tensor& x = n.in(0);
  return to_dtype(x, x->type.dtype == DType::kF64 ? DType::kF64 : DType::kF32);
}

// Returns the elements of a tensor attribute as doubles; nothing if it is not given.
std::vector<double> tensor_numbers(const NodeCall& n, std::string_view name) {
  const TensorData* data = n.attr_tensor(name);
  if (!data) return {};
  require_code(data->unreadable.empty(), Code::kUnimplemented, "attribute {}: {}", name,
               data->unreadable);
  const auto bytes = data->elements();
  const auto values = [&]<class T>(T) {
    std::vector<T> raw(bytes.size() / sizeof(T));
    std::memcpy(raw.data(), bytes.data(), raw.size() * sizeof(T));
    return std::vector<double>(raw.begin(), raw.end());
  };
  switch (data->type.dtype) {
    case DType::kU8:
      return values(uint8_t{});
    case DType::kF32:
      return values(float{});
    case DType::kF64:
      return values(double{});
    default:
      fail(Code::kInvalidArgument, "attribute {} must be u8, f32 or f64, but is {}",
           {name, data->type});
  }
}

// Returns numbers of the attribute `name` or, since operator set 3, of the tensor NAME_as_tensor.
std::vector<double> floats_or_tensor(const NodeCall& n, const std::string& name) {
  const std::vector<float> floats = n.attr_floats(name);
  if (!floats.empty()) {
    n.ignore(name + "_as_tensor");
    return {floats.begin(), floats.end()};
  }
  return tensor_numbers(n, name + "_as_tensor");
}

// Throws unless a list has `size` elements.
void require_length(std::string_view name, size_t given, size_t size) {
  require(given == size, "attribute {} must have {} elements, but has {}", name, size, given);
}

// ---- the older ops

TreeMode mode_of(const std::string& name) {
  static constexpr const char* kNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                           "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<TreeMode>(i);
  }
  fail(Code::kInvalidArgument, "{} is not a mode of a node of a tree", {name});
}

// Reads the attributes nodes_*, in which each node has a number within its tree, and the weights of
// the leaves: `prefix` is target or class.
class KeyedTrees {
 public:
  KeyedTrees(const NodeCall& n, const std::string& prefix, int64_t n_targets)
      : tree_ids_(n.attr_ints("nodes_treeids")), node_ids_(n.attr_ints("nodes_nodeids")) {
    n.ignore("nodes_hitrates");
    n.ignore("nodes_hitrates_as_tensor");
    modes_ = n.attr_texts("nodes_modes");
    const size_t size = modes_.size();
    require_length("nodes_treeids", tree_ids_.size(), size);
    require_length("nodes_nodeids", node_ids_.size(), size);
    number_nodes();
    trees_.set_leaves(n_leaves_, n_targets);
    read_nodes(n);
    read_weights(n, prefix);
  }

  Trees trees_;
  std::set<int64_t> targets_;  // The targets that have weights.
  bool is_negative_ = false;   // Whether a weight is negative.

 private:
  using Key = std::pair<int64_t, int64_t>;  // Tree and node.

  bool is_leaf(size_t i) const { return modes_[i] == "LEAF"; }

  // Numbers the interior nodes, and then the leaves.
  void number_nodes() {
    int64_t interior = 0;
    for (size_t i = 0; i < modes_.size(); ++i) ++(is_leaf(i) ? n_leaves_ : interior);
    int64_t next[] = {0, interior};
    for (size_t i = 0; i < modes_.size(); ++i) {
      const bool is_new =
          numbers_.emplace(Key(tree_ids_[i], node_ids_[i]), next[is_leaf(i)]++).second;
      require(is_new, "tree {} has two nodes {}", tree_ids_[i], node_ids_[i]);
    }
    trees_.nodes.reserve(static_cast<size_t>(interior));
  }

  int64_t number_of(int64_t tree, int64_t node) const {
    const auto at = numbers_.find({tree, node});
    require(at != numbers_.end(), "tree {} has no node {}", tree, node);
    return at->second;
  }

  void read_nodes(const NodeCall& n) {
    const size_t size = modes_.size();
    const Ints features = n.attr_ints("nodes_featureids");
    const Ints when_true = n.attr_ints("nodes_truenodeids"),
               when_false = n.attr_ints("nodes_falsenodeids");
    const Ints nans = n.attr_ints("nodes_missing_value_tracks_true");
    const std::vector<double> values = floats_or_tensor(n, "nodes_values");
    require_length("nodes_featureids", features.size(), size);
    require_length("nodes_truenodeids", when_true.size(), size);
    require_length("nodes_falsenodeids", when_false.size(), size);
    require_length("nodes_values", values.size(), size);
    if (!nans.empty()) require_length("nodes_missing_value_tracks_true", nans.size(), size);
    std::set<int64_t> children;
    for (size_t i = 0; i < size; ++i) {
      if (is_leaf(i)) continue;
      const int64_t tree = tree_ids_[i];
      Trees::Node node = {.feature = features[i],
                          .split = values[i],
                          .mode = mode_of(modes_[i]),
                          .nan_is_true = !nans.empty() && nans[i] != 0,
                          .when_true = number_of(tree, when_true[i]),
                          .when_false = number_of(tree, when_false[i])};
      children.insert({node.when_true, node.when_false});
      trees_.nodes.push_back(std::move(node));
    }
    std::set<int64_t> trees_with_root;
    for (size_t i = 0; i < size; ++i) {
      const int64_t number = number_of(tree_ids_[i], node_ids_[i]);
      if (children.contains(number)) continue;
      require(trees_with_root.insert(tree_ids_[i]).second, "tree {} has two roots", tree_ids_[i]);
      trees_.roots.push_back(number);
    }
  }

  void read_weights(const NodeCall& n, const std::string& prefix) {
    const Ints trees = n.attr_ints(prefix + "_treeids"), nodes = n.attr_ints(prefix + "_nodeids");
    const Ints ids = n.attr_ints(prefix + "_ids");
    const std::vector<double> weights = floats_or_tensor(n, prefix + "_weights");
    require_length(prefix + "_treeids", trees.size(), ids.size());
    require_length(prefix + "_nodeids", nodes.size(), ids.size());
    require_length(prefix + "_weights", weights.size(), ids.size());
    const auto interior = static_cast<int64_t>(trees_.nodes.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      trees_.add_weight(number_of(trees[i], nodes[i]) - interior, ids[i], weights[i]);
      targets_.insert(ids[i]);
      is_negative_ = is_negative_ || weights[i] < 0;
    }
  }

  Ints tree_ids_, node_ids_;
  std::vector<std::string> modes_;
  std::map<Key, int64_t> numbers_;
  int64_t n_leaves_ = 0;
};

// Uploads numbers as a vector of the dtype.
Tensor upload_numbers(const std::vector<double>& values, DType dtype) {
  Scope& scope = current_scope();
  const TensorType type(DType::kF64, {static_cast<int64_t>(values.size())});
  return cast(from_host(scope, scope.device(), type, values.data()), dtype);
}

}  // namespace

Tensors tree_ensemble_regressor(const NodeCall& n) {
  static constexpr const char* kSums[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const std::string name = n.attr_text("aggregate_function", "SUM");
  const auto* const at = std::find(std::begin(kSums), std::end(kSums), name);
  require(at != std::end(kSums),
          "attribute aggregate_function must be \"AVERAGE\", \"SUM\", \"MIN\" or \"MAX\", but is "
          "\"{}\"",
          name);
  const KeyedTrees keyed(n, "target", n.attr("n_targets", 1));
  const Tensor x = features_of(n);
  Tensor scores = evaluate_trees(keyed.trees_, x, static_cast<TreeSum>(at - std::begin(kSums)));
  const std::vector<double> base = floats_or_tensor(n, "base_values");
  if (!base.empty()) {
    require_length("base_values", base.size(), static_cast<size_t>(keyed.trees_.n_targets));
    scores = scores + upload_numbers(base, x->type.dtype);
  }
  return {to_dtype(transform_scores(scores, n.attr_text("post_transform", "NONE")), DType::kF32)};
}

namespace {

// The scores of a classifier with two classes of which only one has weights, [N, 1]. The other
// class has the complement of the score, or its negative if weights may be negative.
Tensors classify_by_one_score(const Tensor& score, const Tensor& labels, bool is_negative,
                              const std::string& transform) {
  const Tensor is_second = greater(score, number(is_negative ? 0 : 0.5));
  const Tensor label = gather(labels, reshape(cast(is_second, DType::kI64), {-1}), 0);
  if (transform == "PROBIT") return {label, transform_scores(score, transform)};
  if (!is_negative) return {label, join_columns(1.0 - score, score)};
  const Tensor both = join_columns(neg(score), score);
  return {label, transform == "LOGISTIC" ? sigmoid(both) : both};
}

}  // namespace

// Returns the labels and the scores [N, classes].
Tensors tree_ensemble_classifier(const NodeCall& n) {
  require_code(n.attr_texts("classlabels_strings").empty(), Code::kUnimplemented,
               "labels that are strings are not supported");
  const Ints classes = n.attr_ints("classlabels_int64s");
  const auto n_classes = static_cast<int64_t>(classes.size());
  require(n_classes > 0, "attribute classlabels_int64s must not be empty");
  const KeyedTrees keyed(n, "class", n_classes);
  const std::string transform = n.attr_text("post_transform", "NONE");
  const Tensor x = features_of(n), labels = host_ints(classes);
  Tensor scores = evaluate_trees(keyed.trees_, x, TreeSum::kSum);
  const std::vector<double> base = floats_or_tensor(n, "base_values");
  const bool is_single = n_classes == 2 && keyed.targets_.size() <= 1;
  if (is_single) scores = column(scores, keyed.targets_.empty() ? 0 : *keyed.targets_.begin());
  if (!base.empty()) {
    if (is_single && base.size() == 2) {
      scores = scores + base[1];
    } else {
      require_length("base_values", base.size(), static_cast<size_t>(is_single ? 1 : n_classes));
      scores = scores + upload_numbers(base, x->type.dtype);
    }
  }
  Tensors results;
  if (is_single) {
    results = classify_by_one_score(scores, labels, keyed.is_negative_, transform);
  } else {
    const Tensor best = call_named1("argmax", {{"axis", int64_t{1}}}, {scores});
    results = {gather(labels, best, 0), transform_scores(scores, transform)};
  }
  results[1] = to_dtype(results[1], DType::kF32);
  return results;
}

// ---- TreeEnsemble

namespace {

// Reads the sets of the nodes that test membership: one list for each, in order, that ends with a
// NaN.
void read_members(const NodeCall& n, Trees& trees) {
  const std::vector<double> values = tensor_numbers(n, "membership_values");
  size_t next = 0;
  for (Trees::Node& node : trees.nodes) {
    if (node.mode != TreeMode::kMember) continue;
    require(next < values.size(), "membership_values must have a set for each BRANCH_MEMBER node");
    while (next < values.size() && !std::isnan(values[next]))
      node.members.push_back(values[next++]);
    ++next;  // The NaN.
  }
  require(next >= values.size(), "membership_values has more sets than BRANCH_MEMBER nodes");
}

}  // namespace

Tensors tree_ensemble(const NodeCall& n) {
  n.ignore("nodes_hitrates");
  const std::vector<double> splits = tensor_numbers(n, "nodes_splits"),
                            modes = tensor_numbers(n, "nodes_modes"),
                            weights = tensor_numbers(n, "leaf_weights");
  const Ints features = n.attr_ints("nodes_featureids"), targets = n.attr_ints("leaf_targetids");
  const Ints nans = n.attr_ints("nodes_missing_value_tracks_true");
  const Ints children[] = {n.attr_ints("nodes_falsenodeids"), n.attr_ints("nodes_truenodeids")};
  const Ints leaves[] = {n.attr_ints("nodes_falseleafs"), n.attr_ints("nodes_trueleafs")};
  const size_t size = modes.size();
  require_length("nodes_splits", splits.size(), size);
  require_length("nodes_featureids", features.size(), size);
  for (size_t i = 0; i < 2; ++i) {
    require_length(i ? "nodes_truenodeids" : "nodes_falsenodeids", children[i].size(), size);
    require_length(i ? "nodes_trueleafs" : "nodes_falseleafs", leaves[i].size(), size);
  }
  if (!nans.empty()) require_length("nodes_missing_value_tracks_true", nans.size(), size);
  require_length("leaf_targetids", targets.size(), weights.size());

  Trees trees;
  trees.set_leaves(static_cast<int64_t>(weights.size()), n.attr("n_targets", 1));
  for (size_t i = 0; i < weights.size(); ++i) {
    trees.add_weight(static_cast<int64_t>(i), targets[i], weights[i]);
  }
  const auto limits = [&](bool leaf) { return leaf ? trees.n_leaves : static_cast<int64_t>(size); };
  const auto child = [&](size_t i, size_t side) {
    const bool leaf = leaves[side][i] != 0;
    const int64_t at = children[side][i];
    require(at >= 0 && at < limits(leaf), "a child of node {} is {} {}, but there are {}", i,
            leaf ? "leaf" : "node", at, limits(leaf));
    return leaf ? at + static_cast<int64_t>(size) : at;
  };
  for (size_t i = 0; i < size; ++i) {
    require(modes[i] < kTreeModes, "elements of nodes_modes must be in [0, 6], but one is {}",
            modes[i]);
    trees.nodes.push_back({.feature = features[i],
                           .split = splits[i],
                           .mode = static_cast<TreeMode>(modes[i]),
                           .nan_is_true = !nans.empty() && nans[i] != 0,
                           .when_true = child(i, 1),
                           .when_false = child(i, 0)});
  }
  read_members(n, trees);
  for (const int64_t root : n.attr_ints("tree_roots")) trees.roots.push_back(root);

  const int64_t how = n.attr("aggregate_function", 1), transform = n.attr("post_transform", 0);
  static constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                "PROBIT"};
  require(how >= 0 && how <= 3, "attribute aggregate_function must be in [0, 3], but is {}", how);
  require(transform >= 0 && transform <= 4, "attribute post_transform must be in [0, 4], but is {}",
          transform);
  const Tensor scores = evaluate_trees(trees, features_of(n), static_cast<TreeSum>(how));
  return {to_dtype(transform_scores(scores, kTransforms[transform]), n.in(0)->type.dtype)};
}

}  // namespace tenon::onnx::adapters
