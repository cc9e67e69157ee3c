// select: replaces a branch on a bool whose two regions only make small elementwise calls by those
// calls and a `where` for each output.
//
//   y = branch(p, x) do (a) { return add(a, 1) } do (a) { return neg(a) }
//   y = where(p, add(x, 1), neg(x))
//
// The device then selects the result. The host need not read the condition, and a loop that
// contains the branch can run as one launch plan. Computing both sides of at most kMaxCalls calls
// on kMaxElements elements costs less than one read of a condition. Elementwise calls have no
// effects and cannot fail, so the region that is not selected changes nothing.
//
// Takes O(n) time for n nodes, including those of the regions.

#include "core/base/work_steps.h"
#include "core/dispatch/pending_work.h"
#include "core/ops/definition/op_ids.h"
#include "core/trace/control/control_ops.h"
#include "core/trace/graph/region.h"
#include "core/trace/passes/pass.h"
#include "core/trace/passes/rewriter.h"

namespace tenon {
namespace {

constexpr size_t kMaxCalls = 16;  // Maximum number of calls in both regions.
constexpr int64_t kMaxElements = 1024;

bool is_small(const TensorType& type) {
  return !type.lists && known(type.shape) && int64_t{count(type.shape)} <= kMaxElements;
}

// Whether the call is pure, cannot fail when it runs, and costs little.
bool is_cheap(const Node& node) {
  const OpDef& op = *node.op;
  const bool is_pure = op.elementwise || op.id == static_cast<uint32_t>(OpId::k_fill) ||
                       op.id == static_cast<uint32_t>(OpId::k_identity);
  if (!is_pure || op.run || op.in_order || may_report(op) || node.n_sizes != 0) return false;
  for (const TensorType& type : node.types) {
    if (!is_small(type)) return false;
  }
  return true;
}

// Whether both regions of a branch can be computed on the branch's device instead of one of them.
bool can_select(const Node& node) {
  if (node.kind != NodeKind::kCall || node.op != &control::branch()) return false;
  const RegionAttrs& attrs = region_attrs(node.attrs.view());
  const Value& which = node.inputs[0];
  if (attrs.regions.size() != 2 || node.n_sizes != 0 || !which ||
      which.node->kind == NodeKind::kConstant || which.type().dtype != DType::kBool ||
      which.type().rank() != 0)
    return false;
  for (const TensorType& type : node.types) {
    if (!is_small(type) || type.weak) return false;
  }
  const Device* device = which.node->device;
  for (const Value& x : node.operands().subspan(1)) {
    if (!x || (x.node->kind != NodeKind::kConstant && x.node->device != device)) return false;
  }
  size_t n_calls = 0;
  for (const auto& region : attrs.regions) {
    for (const Node& inner : region->graph().nodes()) {
      count_steps();
      if (inner.kind != NodeKind::kCall) continue;
      if (++n_calls > kMaxCalls || inner.device != device || !is_cheap(inner)) return false;
    }
    for (const Value& y : region->graph().outputs()) {
      if (!y || y.type().weak) return false;
    }
  }
  return true;
}

// Copies the calls of a region to the graph. Returns its outputs.
Values inline_region(Graph& graph, const Graph& region, std::span<const Value> operands) {
  std::vector<Value> mapped(region.n_slots());
  for (size_t i = 0; i < operands.size(); ++i) {
    mapped[region.inputs()[i]->first_slot] = operands[i];
  }
  for (const Node& node : region.nodes()) {
    if (node.kind == NodeKind::kInput) continue;
    Values inputs;
    for (const Value& x : node.inputs) inputs.push_back(x ? mapped[x.slot()] : Value());
    Node& made = graph.add_copy(node, std::move(inputs));
    for (uint32_t i = 0; i < made.types.size(); ++i) mapped[node.first_slot + i] = made.output(i);
  }
  Values outputs;
  for (const Value& y : region.outputs()) outputs.push_back(mapped[y.slot()]);
  return outputs;
}

// Replaces a branch by the calls of both regions and a `where` for each output that differs.
void replace_by_where(Rewriter& copy, const Node& node) {
  const Values inputs = copy.inputs_of(node);
  const std::span<const Value> operands = inputs.span().subspan(1);
  const Regions& regions = region_attrs(node.attrs.view()).regions;
  Graph& graph = copy.graph();
  const Values if_true = inline_region(graph, regions[0]->graph(), operands);
  const Values if_false = inline_region(graph, regions[1]->graph(), operands);
  Values chosen;
  for (size_t i = 0; i < node.types.size(); ++i) {
    if (if_true[i] == if_false[i]) {
      chosen.push_back(if_true[i]);
      continue;
    }
    Values arguments = {inputs[0], if_true[i], if_false[i]};
    Node& made = graph.add_call(op_def(OpId::k_where), {}, std::move(arguments), {node.types[i]},
                                *inputs[0].node->device);
    made.location = node.location;
    chosen.push_back(made.output());
  }
  copy.map_outputs(node, chosen.span());
}

}  // namespace

std::shared_ptr<Graph> select_branches(Scope&, const Graph& graph, Tensors&) {
  bool applies = false;
  for (const Node& node : graph.nodes()) {
    count_steps();
    applies = applies || can_select(node);
  }
  if (!applies) return nullptr;
  Rewriter copy(graph);
  for (const Node& node : graph.nodes()) {
    if (node.kind == NodeKind::kInput) continue;
    if (can_select(node)) {
      replace_by_where(copy, node);
    } else {
      copy.copy(node);
    }
  }
  return copy.finish();
}

}  // namespace tenon
