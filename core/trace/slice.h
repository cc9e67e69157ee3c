// A part of a graph: the calls that some of its values need, in order, where others are given.

#pragma once

#include <span>
#include <vector>

#include "core/dispatch/scope.h"
#include "core/trace/graph.h"

namespace tenon {

class Slice {
 public:
  // The graph outlives the slice and does not change meanwhile. Fails if a value needs an input
  // that is not given.
  Slice(const Graph& graph, std::span<const Value> given, std::span<const Value> wanted);

  // Applies the calls in the scope, whatever that does: they run, are recorded, or become part of
  // another trace. `sizes` says what each symbol of the graph is. What nothing needs any more is
  // released on the way.
  Tensors apply(Scope& scope, std::span<const Size> sizes, TensorSpan given) const;

  std::span<const Node* const> nodes() const { return nodes_; }

 private:
  const Graph& graph_;
  std::vector<const Node*> nodes_;  // Calls and constants.
  std::vector<bool> has_formulas_;  // Of each node: whether its attributes do.
  std::vector<uint32_t> given_, wanted_;
  // Of each node, the slots that nothing behind it reads: a part of `dead_` up to this place.
  std::vector<uint32_t> dead_, dead_end_;
};

}  // namespace tenon
