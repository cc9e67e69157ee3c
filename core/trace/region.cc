#include "core/trace/region.h"

#include "core/base/error.h"
#include "core/dispatch/variable.h"
#include "core/trace/tracer.h"

namespace tenon {
Region::Region(std::shared_ptr<Graph> graph, std::shared_ptr<const CustomVjp> vjp)
    : graph_(std::move(graph)),
      vjp_(std::move(vjp)),
      all_(*graph_, outputs_of(graph_->inputs()), graph_->outputs()) {}

TracedBlock trace_block(Scope& scope, TensorSpan like, const char* name, const Block& block) {
  TracedBlock out;
  const auto& around = static_cast<const Tracer&>(*scope.traced_cells());
  out.graph = std::make_shared<Graph>(around.graph().shared_sizes());
  Tracer tracer(scope, *out.graph);
  Tensors operands;
  for (const Tensor& x : like) {
    operands.push_back(tracer.input(x->type, InputRole::kArgument, "", *x->storage->device));
  }
  tracer.finish(block(operands));
  for (const Tracer::Made& made : tracer.made()) {
    // A generator that is gone again was only a way to draw.
    const bool stays = made.cell->kind() == Kind::kVariable || made.cell->owners() > 1;
    require_code(!stays, Code::kFailedPrecondition,
                 "{} makes a variable or a generator: make it before", name);
  }
  out.captures = tracer.captures();
  out.states = tracer.states();
  for (Node* node : out.graph->inputs()) {
    auto& of_role = node->role == InputRole::kArgument  ? out.arguments
                    : node->role == InputRole::kCapture ? out.capture_inputs
                                                        : out.state_inputs;
    of_role.push_back(node);
  }
  const std::span<const Value> all = out.graph->outputs();
  const size_t n_states = out.states.size();
  out.states_after.assign(all.begin(), all.begin() + n_states);
  out.graph->set_outputs({all.begin() + n_states, all.end()});
  return out;
}

TracedBlock::Closed TracedBlock::close(Scope& scope) {
  Closed closed;
  std::vector<Node*> inputs = arguments, constants = capture_inputs;
  std::vector<Value> outputs(graph->outputs().begin(), graph->outputs().end());
  Tensors constant_operands(captures);
  for (size_t i = 0; i < states.size(); ++i) {
    Tensor value = read_state(scope, *states[i]);
    const bool is_stored = states_after[i] != state_inputs[i]->output();
    (is_stored ? inputs : constants).push_back(state_inputs[i]);
    (is_stored ? closed.operands : constant_operands).push_back(std::move(value));
    if (!is_stored) continue;
    outputs.push_back(states_after[i]);
    closed.stored.push_back(states[i]);
  }
  inputs.insert(inputs.end(), constants.begin(), constants.end());
  for (Tensor& x : constant_operands) closed.operands.push_back(std::move(x));
  graph->set_inputs(std::move(inputs));
  graph->set_outputs(std::move(outputs));
  return closed;
}

Tensors store(Scope& scope, const std::vector<Ref<Cell>>& cells, Tensors outputs) {
  const size_t n = outputs.size() - cells.size();
  for (size_t i = 0; i < cells.size(); ++i) cells[i]->store(scope, outputs[n + i]);
  outputs.resize(n);
  return outputs;
}

RegionAttrs adopted(Scope& scope, const Graph& graph, const RegionAttrs& attrs) {
  RegionAttrs result;
  for (const auto& region : attrs.regions) {
    const Graph& own = region->graph();
    if (own.shared_sizes() == graph.shared_sizes()) {
      result.regions.push_back(region);
      continue;
    }
    const auto anew = std::make_shared<Graph>(graph.shared_sizes());
    {
      Tracer tracer(scope, *anew);
      Tensors operands;
      for (const Node* node : own.inputs()) {
        operands.push_back(tracer.input(evaluated(own, node->types[0], attrs.sizes),
                                        InputRole::kArgument, node->names[0], *node->device));
      }
      tracer.finish(region->apply(scope, attrs.sizes, operands));
    }
    result.regions.push_back(std::make_shared<const Region>(anew, region->vjp()));
  }
  result.sizes = current_symbols(scope);
  return result;
}

Sizes current_symbols(Scope& scope) {
  Sizes sizes;
  if (!scope.traced_cells()) return sizes;
  SizeTable& table = SizeTable::current();
  for (size_t i = 0; i < table.n_symbols(); ++i) {
    sizes.push_back(table.symbol(table.symbol_name(i)));
  }
  return sizes;
}

}  // namespace tenon
