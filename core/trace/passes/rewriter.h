// Copies a graph node by node; outputs of a node can be replaced by other values.

#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/trace/graph/graph.h"

namespace tenon {

class Rewriter {
 public:
  // Starts the copy with inputs for all inputs of `from`, or only for those in `inputs`.
  explicit Rewriter(const Graph& from) : Rewriter(from, from.inputs()) {}
  Rewriter(const Graph& from, std::span<const Node* const> inputs);

  // Returns the value of the copy that corresponds to `old`.
  Value operator()(const Value& old) const;
  // Returns the values of the copy that correspond to the inputs of `node`.
  Values inputs_of(const Node& node) const;

  // Copies a constant or a call. The inputs of the copy are `inputs` or, by default, the values
  // that correspond to the inputs of `node`.
  Node& copy(const Node& node) { return copy(node, inputs_of(node)); }
  Node& copy(const Node& node, Values inputs);
  // Maps the outputs of the node to `instead`, which are values of the copy.
  void map_outputs(const Node& node, std::span<const Value> instead);
  void map_outputs(const Node& node, Value instead) { map_outputs(node, {&instead, 1}); }

  Graph& graph() { return *to_; }
  // Sets the outputs and returns the copy.
  std::shared_ptr<Graph> finish();

 private:
  const Graph& from_;
  std::shared_ptr<Graph> to_;
  std::vector<Value> mapped_;  // By slot of the source graph.
};

}  // namespace tenon
