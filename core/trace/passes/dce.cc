// dce: removes calls on which no output depends, and constants that no call uses.
//
// A removed call that would fail no longer fails. This is the only way in which traced code may
// behave differently from eager code.
//
// Takes O(n) time for n nodes.

#include "core/base/work_steps.h"
#include "core/trace/passes/pass.h"
#include "core/trace/passes/rewriter.h"

namespace tenon {

std::shared_ptr<Graph> eliminate_dead_code(Scope&, const Graph& graph, Tensors& constants) {
  std::vector<bool> needed(graph.n_slots(), false);
  for (const Value& y : graph.outputs()) needed[y.slot()] = true;
  const auto is_needed = [&](const Node& node) {
    for (uint32_t i = 0; i < node.types.size(); ++i) {
      if (needed[node.first_slot + i]) return true;
    }
    return false;
  };
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    count_steps(1 + node->inputs.size());
    if (!is_needed(*node)) continue;
    for (const Value& x : node->inputs) {
      if (x) needed[x.slot()] = true;
    }
  }
  const size_t n_given = graph.inputs().size() - constants.size();
  const auto given = graph.inputs().first(n_given);
  std::vector<const Node*> inputs(given.begin(), given.end());
  Tensors kept;
  for (size_t i = 0; i < constants.size(); ++i) {
    const Node* const input = graph.inputs()[n_given + i];
    if (!is_needed(*input)) continue;
    inputs.push_back(input);
    kept.push_back(constants[i]);
  }
  constants = std::move(kept);
  Rewriter copy(graph, inputs);
  for (const Node& node : graph.nodes()) {
    if (node.kind != NodeKind::kInput && is_needed(node)) copy.copy(node);
  }
  return copy.finish();
}

}  // namespace tenon
