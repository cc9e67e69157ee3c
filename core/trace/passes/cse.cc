// cse: merges calls of the same op with equal attributes, inputs and device. Random states,
// variables and order tokens are inputs and outputs of calls, so calls that differ in them are not
// merged.
//
// Takes expected O(n) time for n nodes.

#include <algorithm>
#include <unordered_map>

#include "core/base/work_steps.h"
#include "core/trace/passes/pass.h"
#include "core/trace/passes/rewriter.h"

namespace tenon {
namespace {

struct Seen {
  const Node* old;
  Node* made;
};

// Returns a hash of a call or constant, in which `inputs` replace its inputs.
uint64_t hash_of(const Node& node, const Values& inputs) {
  uint64_t h = detail::mix(static_cast<uint64_t>(node.kind), node.types.size());
  if (node.kind == NodeKind::kConstant) {
    return detail::mix(h, static_cast<uint64_t>(node.constant->int_value));
  }
  h = detail::mix(h, reinterpret_cast<uintptr_t>(node.op));
  for (const Value& x : inputs) h = detail::mix(h, x ? x.slot() : ~uint32_t{0});
  return detail::mix(h, node.attrs.view().hash());
}

// Whether the node computes the same as the node that was seen earlier. Compares inline scalars
// bitwise: -0 is not 0.
bool can_merge(const Node& node, const Values& inputs, const Seen& seen) {
  const Node& other = *seen.old;
  if (node.kind != other.kind || node.device != other.device) return false;
  if (node.kind == NodeKind::kConstant) {
    return node.types[0].dtype == other.types[0].dtype &&
           node.constant->int_value == other.constant->int_value;
  }
  return node.op == other.op && node.attrs.view() == other.attrs.view() &&
         inputs == seen.made->inputs;
}

}  // namespace

std::shared_ptr<Graph> eliminate_common_subexpressions(Scope&, const Graph& graph, Tensors&) {
  Rewriter copy(graph);
  std::unordered_multimap<uint64_t, Seen> all;
  for (const Node& node : graph.nodes()) {
    if (node.kind == NodeKind::kInput) continue;
    Values inputs = copy.inputs_of(node);
    const uint64_t hash = hash_of(node, inputs);
    const auto [first, last] = all.equal_range(hash);
    const auto at = std::find_if(first, last, [&](const auto& entry) {
      count_steps();
      return can_merge(node, inputs, entry.second);
    });
    if (at == last) {
      all.emplace(hash, Seen{&node, &copy.copy(node, std::move(inputs))});
      continue;
    }
    Values instead;
    for (uint32_t i = 0; i < node.types.size(); ++i) {
      instead.push_back(at->second.made->output(i));
    }
    copy.map_outputs(node, instead.span());
  }
  return copy.finish();
}

}  // namespace tenon
