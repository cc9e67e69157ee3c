#include "core/trace/graph/region.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/work_steps.h"
#include "core/dispatch/dispatch.h"
#include "core/trace/tracer.h"

namespace tenon {

EnumInfo enum_info(LoopPolicy) {
  static constexpr const char* kNames[] = {"stack", "recompute", "bounded"};
  return {"policy", kNames};
}

Region::Region(std::shared_ptr<Graph> graph, std::shared_ptr<const CustomVjp> vjp)
    : graph_(std::move(graph)),
      vjp_(std::move(vjp)),
      all_(*graph_, first_outputs_of(graph_->inputs()), graph_->outputs()) {}

namespace {

// Fails if a size of an output depends on data inside the region: the region may run many times or
// never, so the size is unknown outside.
void require_no_data_dependent_sizes(const Graph& graph, size_t n_symbols, const char* name) {
  for (const Value& y : graph.outputs()) {
    for (const Size size : y.type().shape) {
      for (const size_t symbol : graph.sizes().data_dependent_symbols_of(size)) {
        require_code(symbol < n_symbols, Code::kUnimplemented,
                     "{} returns {}, whose size depends on values inside it: return values whose "
                     "sizes are known outside",
                     name, y.type());
      }
    }
  }
}

}  // namespace

TracedBlock trace_block(Scope& scope, TensorSpan like, const char* name, const Block& block) {
  TracedBlock out;
  const auto& around = static_cast<const Tracer&>(*scope.traced_cells());
  out.graph = std::make_shared<Graph>(around.graph().shared_sizes());
  const size_t n_symbols = out.graph->sizes().n_symbols();
  Tracer tracer(scope, *out.graph);
  Tensors operands;
  for (const Tensor& x : like) {
    operands.push_back(tracer.input(x->type, InputRole::kArgument, "", *x->storage->device));
  }
  tracer.finish(block(operands));
  require_no_data_dependent_sizes(*out.graph, n_symbols, name);
  for (const Tracer::Made& made : tracer.made()) {
    require_code(!made.is_permanent(), Code::kFailedPrecondition,
                 "{} creates a variable or a generator: create it before the call", name);
  }
  out.commits = tracer.commits();
  out.reloads = tracer.reloads();
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
  out.final_states.assign(all.begin(), all.begin() + n_states);
  out.graph->set_outputs({all.begin() + n_states, all.end()});
  return out;
}

namespace {

// A set that keeps insertion order.
template <class T>
class OrderedSet {
 public:
  OrderedSet() = default;
  explicit OrderedSet(const std::vector<T>& all) {
    for (const T& x : all) add(x);
  }
  void add(const T& x) {
    count_steps();
    if (places_.try_emplace(x.get(), all_.size()).second) all_.push_back(x);
  }
  bool contains(const T& x) const { return places_.contains(x.get()); }
  // Returns the index of `x`, or the number of elements if it is absent.
  size_t index_of(const T& x) const {
    count_steps();
    const auto at = places_.find(x.get());
    return at == places_.end() ? all_.size() : at->second;
  }
  const std::vector<T>& all() const { return all_; }

 private:
  std::vector<T> all_;
  std::unordered_map<const void*, size_t> places_;
};

// Returns the final value of a state that a block does not use but its effects may change. Adds a
// call of reload at the end of the block.
Value add_reload(TracedBlock& block, Cell& cell, const Node& input) {
  size_t i = 0;
  while (block.states[i]->kind() != Kind::kOrder) ++i;
  Node& node = block.graph->add_call(control::reload(), any_attrs(cell_attrs(cell)),
                                     {block.final_states[i], const_cast<Node&>(input).output()},
                                     {input.types[0], token_type()}, *input.device);
  block.final_states[i] = node.output(1);
  return node.output(0);
}

// Returns the block's input for the capture or state `x`. Adds an unused input if the block does
// not use `x`. `own` holds the captures or states that the block uses, and `inputs` their inputs.
template <class T>
Node* get_or_add_input(const TracedBlock& block, const OrderedSet<T>& own,
                       const std::vector<Node*>& inputs, const T& x, const Tensor& operand) {
  const size_t i = own.index_of(x);
  if (i < inputs.size()) return inputs[i];
  Device& device = *operand->storage->device;
  return block.graph->add_input(operand->type, InputRole::kCapture, "", device).node;
}

}  // namespace

Tensors apply_blocks(Scope& scope, const OpDef& op, std::span<TracedBlock> blocks, Tensors operands,
                     RegionAttrs attrs, const std::shared_ptr<const CustomVjp>& vjp) {
  // The captures and states of a block.
  struct Captured {
    OrderedSet<Tensor> captures;
    OrderedSet<Ref<Cell>> states;
  };
  std::vector<Captured> taken;
  OrderedSet<Tensor> captures;
  OrderedSet<Ref<Cell>> all_stored, read;
  for (const TracedBlock& block : blocks) {
    taken.push_back({OrderedSet<Tensor>(block.captures), OrderedSet<Ref<Cell>>(block.states)});
    for (const Tensor& x : block.captures) captures.add(x);
    for (size_t i = 0; i < block.states.size(); ++i) {
      if (block.final_states[i] != block.state_inputs[i]->output()) all_stored.add(block.states[i]);
    }
  }
  for (const TracedBlock& block : blocks) {
    for (const Ref<Cell>& state : block.states) {
      if (!all_stored.contains(state)) read.add(state);
    }
  }
  // The order token comes last, because handling other states may add calls with effects to a
  // block.
  std::vector<Ref<Cell>> stored = all_stored.all();
  std::stable_partition(stored.begin(), stored.end(),
                        [](const Ref<Cell>& cell) { return cell->kind() != Kind::kOrder; });
  auto& tracer = static_cast<Tracer&>(*scope.traced_cells());
  bool reloads = false;
  for (const TracedBlock& block : blocks) {
    if (block.commits) tracer.commit();
    reloads = reloads || block.reloads;
  }
  std::vector<std::vector<Node*>> inputs;
  std::vector<std::vector<Value>> outputs;
  for (const TracedBlock& block : blocks) {
    inputs.push_back(block.arguments);
    const std::span<const Value> own = block.graph->outputs();
    outputs.emplace_back(own.begin(), own.end());
  }
  const auto take = [&](const auto& x, Tensor operand, const auto& own, const auto& own_inputs) {
    for (size_t b = 0; b < blocks.size(); ++b) {
      inputs[b].push_back(
          get_or_add_input(blocks[b], taken[b].*own, blocks[b].*own_inputs, x, operand));
    }
    operands.push_back(std::move(operand));
  };
  const auto take_state = [&](const Ref<Cell>& state) {
    take(state, read_state(scope, *state), &Captured::states, &TracedBlock::state_inputs);
  };
  for (const Ref<Cell>& state : stored) {
    take_state(state);
    for (size_t b = 0; b < blocks.size(); ++b) {
      const size_t i = taken[b].states.index_of(state);
      const bool is_own = i < blocks[b].states.size();
      outputs[b].push_back(is_own              ? blocks[b].final_states[i]
                           : blocks[b].reloads ? add_reload(blocks[b], *state, *inputs[b].back())
                                               : inputs[b].back()->output());
    }
  }
  for (const Tensor& x : captures.all()) {
    take(x, x, &Captured::captures, &TracedBlock::capture_inputs);
  }
  for (const Ref<Cell>& state : read.all()) take_state(state);

  for (size_t b = 0; b < blocks.size(); ++b) {
    blocks[b].graph->set_inputs(std::move(inputs[b]));
    blocks[b].graph->set_outputs(std::move(outputs[b]));
    attrs.regions.push_back(std::make_shared<const Region>(blocks[b].graph, vjp));
  }
  attrs.sizes = current_symbols(scope);
  SmallVector<TensorImpl*, 6> borrowed;
  for (const Tensor& x : operands) borrowed.push_back(x.get());
  Tensors found = apply(scope, op, any_attrs(attrs), borrowed);
  if (reloads) tracer.reload();
  const size_t n = found.size() - stored.size();
  for (size_t i = 0; i < stored.size(); ++i) stored[i]->store(scope, found[n + i]);
  found.resize(n);
  return found;
}

TensorTypes region_types(const RegionAttrs& attrs, TypeSpan) {
  const Graph& graph = attrs.regions[0]->graph();
  TensorTypes types;
  for (const Value& y : graph.outputs())
    types.push_back(substitute_sizes(graph, y.type(), attrs.sizes));
  return types;
}

OpDef region_op(const ops::Definition<RegionAttrs>& definition, decltype(OpDef::run) run,
                decltype(OpDef::linearize) linearize) {
  OpDef op = ops::define<RegionAttrs>(definition);
  op.min_inputs = static_cast<uint8_t>(definition.inputs.size() - 1);  // The operands are optional.
  op.run = run;
  op.linearize = linearize;
  return op;
}

RegionAttrs retrace_regions(Scope& scope, const Graph& graph, const RegionAttrs& attrs) {
  RegionAttrs result = attrs;
  result.regions = {};
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
        operands.push_back(tracer.input(substitute_sizes(own, node->types[0], attrs.sizes),
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
