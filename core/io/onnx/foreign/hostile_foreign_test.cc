// ONNX files whose nodes of foreign ops have invalid attributes.

#include "core/testing/hostile_files.h"

namespace tenon {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.

constexpr int64_t kMany = int64_t{1} << 61;
using Nodes = std::vector<WireWriter>;

std::vector<Bad> foreign_nodes() {
  const auto foreign = [](const char* op, Nodes attributes, const char* domain = "ai.onnx.ml") {
    return model_of(
        {node("Reshape", {"x", "i"}, {"p"}), node(op, {"p"}, {"y"}, attributes).text(7, domain)},
        {int_tensor("i", {1, 2})});
  };
  const auto reals = [](const std::string& name, const std::vector<float>& values) {
    WireWriter attribute;
    attribute.text(1, name);
    for (const float value : values) attribute.real(7, value);
    return attribute.number(20, 6);
  };
  const auto tree = [&](int64_t child, int64_t targets, int64_t feature = 0) {
    const auto tensor = [](const char* name, const WireWriter& values) {
      return WireWriter().text(1, name).message(5, values).number(20, 4);
    };
    return foreign(
        "TreeEnsemble",
        {ints_attribute("tree_roots", {0}), int_attribute("n_targets", targets),
         ints_attribute("nodes_featureids", {feature}),
         tensor("nodes_splits", float_tensor("", {1}, {1})),
         tensor("nodes_modes", WireWriter().number(1, 1).number(2, 2).number(5, 0)),
         ints_attribute("nodes_truenodeids", {child}), ints_attribute("nodes_trueleafs", {0}),
         ints_attribute("nodes_falsenodeids", {0}), ints_attribute("nodes_falseleafs", {1}),
         tensor("leaf_weights", float_tensor("", {1}, {1})),
         ints_attribute("leaf_targetids", {0})});
  };
  return {
      {"a tree that is its own branch", tree(0, 1), "its own descendant"},
      {"a tree with a branch that is not there", tree(9, 1),
       "a child of node 0 is node 9, but there are 1"},
      {"a tree of 2^61 targets", tree(0, kMany), "the number of targets must be in [1"},
      {"a tree of a feature that is not there", tree(0, 1, 99),
       "a node of a tree reads feature 99, but X is"},
      {"a machine without its vectors",
       foreign("SVMRegressor", {int_attribute("n_supports", 5), reals("rho", {0}),
                                reals("coefficients", {1, 2, 3, 4, 5})}),
       "0 numbers of 5 vectors do not fit the"},
      {"a machine of vectors beyond 64 bits",
       foreign("SVMRegressor", {int_attribute("n_supports", kMany), reals("rho", {0})}),
       "attribute coefficients must have"},
      {"a linear model of no targets",
       foreign("LinearRegressor", {int_attribute("targets", 0), reals("coefficients", {1, 2})}),
       "the number of coefficients, 2, must be a"},
      {"a scale for other features", foreign("Scaler", {reals("scale", {1, 2, 3})}),
       "C2: shapes [1,2] and [3] do not broadcast"},
      {"a product of 2^61 columns",
       model_of({node("MatMulNBits", {"x", "x", "x"}, {"y"},
                      {int_attribute("K", kMany), int_attribute("N", kMany),
                       int_attribute("block_size", 16)})
                     .text(7, "com.microsoft")}),
       "attributes N 2305843009213693952, K"},
  };
}

class HostileForeignNodes : public HostileFiles {};

TEST_F(HostileForeignNodes, AreRefused) {
  for (const Bad& bad : foreign_nodes()) expect_refused(bad);
}

}  // namespace
}  // namespace tenon
