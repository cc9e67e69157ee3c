// Copies a graph node by node, where other values may take the place of what a node gives.

#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/trace/graph.h"

namespace tenon {

class Rewriter {
 public:
  // Begins with the inputs: all of them, or these.
  explicit Rewriter(const Graph& from) : Rewriter(from, from.inputs()) {}
  Rewriter(const Graph& from, std::span<const Node* const> inputs);

  // What a value is in the copy.
  Value operator()(const Value& old) const;
  Values inputs_of(const Node& node) const;

  // A constant or a call as it is, with these inputs.
  Node& copy(const Node& node) { return copy(node, inputs_of(node)); }
  Node& copy(const Node& node, Values inputs);
  // Other values of the copy for what the node gives.
  void put(const Node& node, std::span<const Value> instead);
  void put(const Node& node, Value instead) { put(node, {&instead, 1}); }

  Graph& graph() { return *to_; }
  // The copy, with the outputs.
  std::shared_ptr<Graph> finish();

 private:
  const Graph& from_;
  std::shared_ptr<Graph> to_;
  std::vector<Value> now_;  // By the slots of the old graph.
};

}  // namespace tenon
