// verify: checks that a graph is valid. It changes nothing, and fails with the node and the rule:
//
//   G1  inputs are input nodes of the graph, each once
//   G2  a value is used after the node that defines it
//   G3  values are numbered in the order of their nodes and have unique names
//   G4  a constant is an inline scalar of its declared type
//   G5  the outputs of a call have the types that its op infers
//   G6  outputs are values of the graph, and the output of a state has the state's type
//   G7  regions of a call are valid graphs with the same table of sizes
//   G8  each token is used once, so that effects have a single order
//
// Takes O(n) time for n nodes, including those of regions: each region is verified only once.

#include <unordered_set>

#include "core/base/error.h"
#include "core/base/work_steps.h"
#include "core/dispatch/dispatch.h"
#include "core/trace/graph/order.h"
#include "core/trace/graph/region.h"
#include "core/trace/passes/pass.h"
#include "core/trace/tracer.h"

namespace tenon {
namespace {

class Verifier {
 public:
  Verifier(Scope& scope, const Graph& graph) : scope_(scope), graph_(graph) {}

  void run() {
    count_steps(graph_.n_slots());
    for (const Node& node : graph_.nodes()) {
      check_place(node);
      if (node.kind == NodeKind::kConstant) check_constant(node);
      if (node.kind == NodeKind::kCall) check_inputs(node);
      made_.insert(&node);
    }
    check_inputs_of_graph();
    check_outputs_of_graph();
    check_calls();
  }

 private:
  [[noreturn]] static void fail_at(const Node& node, const char* rule, std::string what) {
    const char* op = node.kind == NodeKind::kCall && node.op ? node.op->name.c_str() : "no op";
    fail(Code::kInternal, "the graph violates {} at {}, which calls {}: {}",
         {rule, node.names.empty() ? "a node" : node.names[0], op, what});
  }

  void check_place(const Node& node) {
    if (node.first_slot != next_slot_ || node.names.size() != node.types.size()) {
      fail_at(node, "G3",
              format("the first output has slot {}, but must have slot {}",
                     {node.first_slot, next_slot_}));
    }
    next_slot_ += static_cast<uint32_t>(node.types.size());
    for (const std::string& name : node.names) {
      if (!names_.insert(name).second) fail_at(node, "G3", "another value has the same name");
    }
  }

  static void check_constant(const Node& node) {
    const TensorImpl* const x = node.constant.get();
    if (!x || !x->is_scalar_value()) fail_at(node, "G4", "the constant is not an inline scalar");
    if (node.types.size() != 1 || x->type.dtype != node.types[0].dtype) {
      fail_at(node, "G4",
              format("the inline scalar has type {}, which is not the declared type", {x->type}));
    }
  }

  void check_inputs(const Node& node) {
    if (!node.op || !node.device) fail_at(node, "G5", "the op or the device is missing");
    for (const Value& x : node.inputs) {
      if (!x) continue;
      if (!made_.contains(x.node))
        fail_at(node, "G2", "an input is a value that no earlier node defines");
      if (x.index >= x.node->types.size()) {
        fail_at(node, "G2", format("{} has no output {}", {x.node->names[0], x.index}));
      }
      if (x.type() == token_type() && !taken_.insert(x.slot()).second) {
        fail_at(node, "G8", format("token {} is used by more than one call", {x.name()}));
      }
    }
  }

  void check_inputs_of_graph() const {
    std::unordered_set<const Node*> seen;
    for (const Node* node : graph_.inputs()) {
      if (!made_.contains(node) || node->kind != NodeKind::kInput) {
        fail(Code::kInternal,
             "the graph violates G1: its list of inputs contains another kind of node", {});
      }
      if (!seen.insert(node).second)
        fail_at(*node, "G1", "the node is listed twice among the graph's inputs");
    }
    for (const Node& node : graph_.nodes()) {
      if (node.kind == NodeKind::kInput && !seen.contains(&node)) {
        fail_at(node, "G1", "the input node is missing in the list of the graph's inputs");
      }
    }
  }

  void check_outputs_of_graph() {
    size_t next = 0;
    for (const Value& y : graph_.outputs()) {
      if (!y || !made_.contains(y.node) || y.index >= y.node->types.size()) {
        fail(Code::kInternal, "the graph violates G6: output {} is not a value of the graph",
             {next});
      }
      if (y.type() == token_type() && !taken_.insert(y.slot()).second) {
        fail_at(*y.node, "G8", "the token is used more than once");
      }
      ++next;
    }
  }

  // Infers the output types of each call again, by tracing it with inputs of the declared types.
  void check_calls() const {
    Graph scratch(graph_.shared_sizes());
    const Scope::Unrecorded unrecorded(scope_);
    Tracer tracer(scope_, scratch);
    tracer.disable_warnings();
    std::vector<Tensor> values(graph_.n_slots());
    for (const Node& node : graph_.nodes()) {
      if (node.kind == NodeKind::kConstant) values[node.first_slot] = node.constant;
      if (node.kind == NodeKind::kCall) check_call(tracer, node, values);
      if (node.kind == NodeKind::kConstant) continue;
      for (uint32_t i = 0; i < node.types.size(); ++i) {
        values[node.first_slot + i] =
            tracer.input(node.types[i], InputRole::kArgument, "", *node.device);
      }
    }
  }

  void check_call(Tracer& tracer, const Node& node, const std::vector<Tensor>& values) const {
    const AnyAttrs attrs = node.attrs.view();
    if (has_regions(*node.op)) check_regions(node, region_attrs(attrs));
    SmallVector<TensorImpl*, 6> inputs;
    for (const Value& x : node.operands()) inputs.push_back(x ? values[x.slot()].get() : nullptr);
    Tensors given;
    try {
      const Scope::OnDevice on(scope_, *node.device);
      given = apply(scope_, *node.op, attrs, inputs);
    } catch (const Error& error) {
      if (error.is_transient()) throw;
      fail_at(node, "G5", error.what());
    }
    if (given.size() != node.types.size()) {
      fail_at(node, "G5",
              format("the node has {} outputs, which is not the number that the op infers",
                     {given.size()}));
    }
    for (uint32_t i = 0; i < given.size(); ++i) {
      const TensorType &is = tracer.value_of(*given[i]).type(), &says = node.types[i];
      if (is.dtype != says.dtype || is.weak != says.weak || is.lists != says.lists ||
          !(is.shape == says.shape).hold()) {
        fail_at(node, "G5",
                format("output {} is inferred as {}, but declared as {}", {i, is, says}));
      }
    }
  }

  void check_regions(const Node& node, const RegionAttrs& attrs) const {
    for (const auto& region : attrs.regions) {
      if (!region || region->graph().shared_sizes() != graph_.shared_sizes()) {
        fail_at(node, "G7", "the region uses another size table than the graph");
      }
      if (region->is_verified()) continue;
      Verifier(scope_, region->graph()).run();
      region->set_verified();
    }
  }

  Scope& scope_;
  const Graph& graph_;
  uint32_t next_slot_ = 0;
  std::unordered_set<const Node*> made_;
  std::unordered_set<std::string> names_;
  std::unordered_set<uint32_t> taken_;  // The slots of the tokens that are used.
};

}  // namespace

std::shared_ptr<Graph> verify(Scope& scope, const Graph& graph, Tensors&) {
  Verifier(scope, graph).run();
  return nullptr;
}

}  // namespace tenon
