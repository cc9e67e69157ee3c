#include "core/trace/plans/subgraph.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/work_steps.h"
#include "core/dispatch/dispatch.h"
#include "core/trace/control/control_ops.h"

namespace tenon {
namespace {

// Returns, for each slot of a graph, the index of its first occurrence in `list`, or kNone.
std::vector<uint32_t> indices_in(const std::vector<uint32_t>& list, uint32_t n_slots) {
  std::vector<uint32_t> places(n_slots, LaunchPlan::kNone);
  for (size_t i = list.size(); i-- > 0;) places[list[i]] = static_cast<uint32_t>(i);
  count_steps(n_slots + list.size());
  return places;
}

}  // namespace

bool has_formulas(AnyAttrs attrs) {
  bool any = false;
  visit_sizes(attrs, [&](const Size& size) { any = any || !size.known(); });
  return any;
}

OwnedAttrs substitute_sizes(const SizeTable& table, AnyAttrs attrs, std::span<const Size> sizes) {
  OwnedAttrs result(attrs);
  visit_sizes(result.view(), [&](Size& size) { size = table.evaluate(size, sizes); });
  return result;
}

Subgraph::Subgraph(const Graph& graph, std::span<const Value> given, std::span<const Value> wanted,
                   bool whole)
    : graph_(graph) {
  count_steps(graph.n_slots());
  enum : uint8_t { kUnneeded, kNeeded, kGiven };
  std::vector<uint8_t> state(graph.n_slots(), kUnneeded);
  for (const Value& x : given) {
    given_.push_back(x.slot());
    state[x.slot()] = kGiven;
  }
  const auto need = [&](const Value& x) {
    if (x && state[x.slot()] == kUnneeded) state[x.slot()] = kNeeded;
  };
  for (const Value& y : wanted) {
    wanted_.push_back(y.slot());
    need(y);
  }
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    bool needed = whole && node->kind == NodeKind::kCall;
    for (uint32_t i = 0; i < node->types.size(); ++i) {
      needed = needed || state[node->first_slot + i] == kNeeded;
    }
    if (!needed) continue;
    require_code(node->kind != NodeKind::kInput, Code::kFailedPrecondition,
                 "an output depends on {}, which is not among the inputs", node->names[0]);
    for (const Value& x : node->inputs) need(x);
    nodes_.push_back(&*node);
  }
  std::reverse(nodes_.begin(), nodes_.end());
  for (const Node* node : nodes_) has_formulas_.push_back(has_formulas(node->attrs.view()));

  std::vector<bool> read(graph.n_slots(), false);
  for (const uint32_t slot : wanted_) read[slot] = true;
  const auto last = [&](uint32_t slot) {
    if (!read[slot]) dead_.push_back(slot);
    read[slot] = true;
  };
  for (auto at = nodes_.rbegin(); at != nodes_.rend(); ++at) {
    for (const Value& x : (*at)->inputs) {
      if (x) last(x.slot());
    }
    for (uint32_t i = 0; i < (*at)->types.size(); ++i) last((*at)->first_slot + i);
    dead_end_.push_back(static_cast<uint32_t>(dead_.size()));
  }
  std::reverse(dead_end_.begin(), dead_end_.end());
  if (graph.sizes().has_data_dependent_symbols()) find_data_dependent_sizes(given);
  split_into_steps();
}

void Subgraph::find_data_dependent_sizes(std::span<const Value> given) {
  const SizeTable& table = graph_.sizes();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (const auto symbol = symbol_defined_by(graph_, *nodes_[i]))
      data_dependent_sizes_.push_back({*symbol, i, 0});
  }
  for (size_t i = 0; i < given.size(); ++i) {
    for (size_t axis = 0; axis < given[i].type().rank(); ++axis) {
      const auto symbol = table.symbol_of(given[i].type().shape[axis]);
      if (symbol && table.is_data_dependent(*symbol))
        sizes_of_inputs_.push_back({*symbol, i, axis});
    }
  }
}

Sizes Subgraph::with_data_dependent_sizes(std::span<const Size> sizes, TensorSpan given) const {
  Sizes all(sizes);
  while (all.size() < graph_.sizes().n_symbols()) all.push_back(-1);
  for (const DataDependentSize& size : sizes_of_inputs_) {
    all[size.symbol] = given[size.place]->shape()[size.axis];
  }
  return all;
}

// Sets the sizes that node i determines; `next` is the first entry of data_dependent_sizes_ not yet
// set.
void Subgraph::set_data_dependent_sizes(Sizes& sizes, size_t i, size_t& next,
                                        const std::vector<Tensor>& values) const {
  for (; next < data_dependent_sizes_.size() && data_dependent_sizes_[next].place <= i; ++next) {
    if (data_dependent_sizes_[next].place != i) continue;
    const size_t symbol = data_dependent_sizes_[next].symbol;
    sizes[symbol] = values[nodes_[i]->first_slot]->shape()[0];
    graph_.sizes().check_data_dependent(symbol, sizes);
  }
}

// Groups the nodes into segments of calls on one device, separated by host ops.
void Subgraph::split_into_steps() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const bool is_plain = nodes_[i]->kind != NodeKind::kCall || !nodes_[i]->op->run;
    Device* device = nodes_[i]->kind == NodeKind::kCall ? nodes_[i]->device : nullptr;
    if (is_plain && !steps_.empty() && steps_.back().segment) {
      Step& last = steps_.back();
      if (!device || !last.device || device == last.device) {
        last.end = i + 1;
        last.device = device ? device : last.device;
        continue;
      }
    }
    steps_.push_back(
        {i, i + 1, is_plain ? std::make_unique<Segment>() : nullptr, device, {}, {}, false});
  }
  constexpr size_t kOutside = ~size_t{0};
  std::vector<size_t> made_by(graph_.n_slots(), kOutside);
  std::vector<bool> is_read(graph_.n_slots(), false), is_given(graph_.n_slots(), false);
  for (size_t k = 0; k < steps_.size(); ++k) {
    Step& step = steps_[k];
    for (size_t i = step.begin; i < step.end; ++i) {
      for (const Value& x : nodes_[i]->inputs) {
        if (!x || made_by[x.slot()] == k || is_read[x.slot()]) continue;
        is_read[x.slot()] = true;
        step.reads.push_back(x.slot());
      }
      for (uint32_t y = 0; y < nodes_[i]->types.size(); ++y) {
        made_by[nodes_[i]->first_slot + y] = k;
      }
    }
    for (const uint32_t slot : step.reads) is_read[slot] = false;
    for (size_t i = step.begin; i < step.end; ++i) step.is_open = step.is_open || has_formulas_[i];
  }
  const auto give = [&](uint32_t slot) {
    if (made_by[slot] == kOutside || is_given[slot]) return;
    is_given[slot] = true;
    steps_[made_by[slot]].gives.push_back(slot);
  };
  for (const Step& step : steps_) {
    for (const uint32_t slot : step.reads) give(slot);
  }
  for (const uint32_t slot : wanted_) give(slot);
  if (has_single_step()) map_single_step();
}

// Sets single_step_, which maps the inputs and outputs of the subgraph to those of its only step.
void Subgraph::map_single_step() {
  std::vector<uint32_t>& reads = steps_[0].reads;
  const std::vector<uint32_t> given_at = indices_in(given_, graph_.n_slots());
  const std::vector<uint32_t> gives_at = indices_in(steps_[0].gives, graph_.n_slots());
  std::sort(reads.begin(), reads.end(),
            [&](uint32_t a, uint32_t b) { return given_at[a] < given_at[b]; });
  single_step_.read_at.assign(given_.size(), kNone);
  for (const uint32_t slot : reads) {
    single_step_.read_at[given_at[slot]] = static_cast<uint32_t>(single_step_.reads.size());
    single_step_.reads.push_back(given_at[slot]);
  }
  std::vector<bool> is_passed(given_.size(), false);
  for (const uint32_t slot : wanted_) {
    single_step_.gives.push_back(gives_at[slot]);
    single_step_.passes.push_back(given_at[slot]);
    if (given_at[slot] != kNone) is_passed[given_at[slot]] = true;
  }
  for (const uint32_t place : single_step_.reads)
    single_step_.may_reuse.push_back(!is_passed[place]);
  single_step_.reads_all = reads == given_;
  single_step_.gives_all = steps_[0].gives == wanted_;
}

void Subgraph::apply_node(Scope& scope, std::span<const Size> sizes, size_t i,
                          std::vector<Tensor>& values) const {
  const Node& node = *nodes_[i];
  if (node.kind == NodeKind::kConstant) {
    values[node.first_slot] = node.constant;
    return;
  }
  SmallVector<TensorImpl*, 6> inputs;
  for (const Value& x : node.operands()) inputs.push_back(x ? values[x.slot()].get() : nullptr);
  const Scope::OnDevice on(scope, *node.device);
  const Scope::AtLine at(scope, node.location);
  if (symbol_defined_by(graph_, node)) {
    values[node.first_slot] = extent(scope, Tensor::share(inputs[0]));
    return;
  }
  OwnedAttrs own;
  if (has_formulas_[i]) own = substitute_sizes(graph_.sizes(), node.attrs.view(), sizes);
  const AnyAttrs attrs = has_formulas_[i] ? own.view() : node.attrs.view();
  Tensors outputs = tenon::apply(scope, *node.op, attrs, inputs);
  for (uint32_t k = 0; k < outputs.size(); ++k) {
    values[node.first_slot + k] = std::move(outputs[k]);
  }
}

// Releases the values that no node after the range [begin, end) reads.
void Subgraph::release_dead_values(size_t begin, size_t end, std::vector<Tensor>& values) const {
  const uint32_t from = end < nodes_.size() ? dead_end_[end] : 0;
  for (uint32_t k = from; k < dead_end_[begin]; ++k) values[dead_[k]].reset();
}

// Runs the calls of a step one by one. `reads` are the values of the step's inputs.
Tensors Subgraph::apply_nodes(Scope& scope, std::span<const Size> sizes, const Step& step,
                              TensorSpan reads, std::vector<Tensor>& values) const {
  for (size_t i = 0; i < reads.size(); ++i) values[step.reads[i]] = reads[i];
  for (size_t i = step.begin; i < step.end; ++i) {
    apply_node(scope, sizes, i, values);
    // The inputs of the step stay alive, because the caller holds them, too.
    release_dead_values(i, i + 1, values);
  }
  Tensors gives;
  for (const uint32_t slot : step.gives) gives.push_back(values[slot]);
  return gives;
}

void Subgraph::run_segment(Scope& scope, std::span<const Size> sizes, const Step& step,
                           std::vector<Tensor>& values) const {
  Tensors inputs;
  for (const uint32_t slot : step.reads) inputs.push_back(values[slot]);
  const auto code = [&](TensorSpan reads) {
    return apply_nodes(scope, sizes, step, reads, values);
  };
  Tensors outputs = step.device
                        ? step.segment->run(scope, *step.device, step.own(sizes), inputs, code)
                        : code(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) values[step.reads[i]] = inputs[i];
  for (size_t i = 0; i < outputs.size(); ++i) values[step.gives[i]] = std::move(outputs[i]);
  release_dead_values(step.begin, step.end, values);
}

Tensors Subgraph::apply_single_step(Scope& scope, std::span<const Size> sizes, TensorSpan given,
                                    std::span<const uint8_t> spare) const {
  const Step& step = steps_[0];
  const auto code = [&](TensorSpan reads) {
    std::vector<Tensor> values(graph_.n_slots());
    return apply_nodes(scope, sizes, step, reads, values);
  };
  const auto run = [&](TensorSpan inputs, std::span<const uint8_t> spare_inputs) {
    return step.segment->run(scope, *step.device, step.own(sizes), inputs, std::cref(code),
                             spare_inputs);
  };
  Tensors outputs;
  if (single_step_.reads_all && spare.empty()) {
    outputs = run(given, {});
  } else {
    Tensors inputs;
    SmallVector<uint8_t, 16> spare_inputs;
    for (size_t i = 0; i < single_step_.reads.size(); ++i) {
      const uint32_t place = single_step_.reads[i];
      inputs.push_back(given[place]);
      // An input that is also a result must not be overwritten.
      const bool is_spare = place < spare.size() && single_step_.may_reuse[i];
      spare_inputs.push_back(is_spare ? spare[place] : uint8_t{0});
    }
    outputs = run(inputs, spare_inputs.span());
  }
  if (single_step_.gives_all) return outputs;
  Tensors results;
  for (size_t i = 0; i < wanted_.size(); ++i) {
    const uint32_t place = single_step_.gives[i];
    results.push_back(place == kNone ? given[single_step_.passes[i]] : outputs[place]);
  }
  return results;
}

// Runs the subgraph as a do-while loop while its first output is true. Returns false, with no
// effect, if the loop cannot be run by replaying one recorded plan.
bool Subgraph::repeat(Scope& scope, std::span<const Size> sizes, Tensors& given,
                      TripLimit& limit) const {
  if (!has_single_step() || !sizes_of_inputs_.empty() || scope.innermost() || scope.recorder())
    return false;
  Tensors inputs;
  for (const uint32_t place : single_step_.reads) inputs.push_back(given[place]);
  const Step& step = steps_[0];
  const std::shared_ptr<const LaunchPlan> program = step.segment->program(step.own(sizes), inputs);
  const uint32_t go = single_step_.gives[0];
  if (!program || go == kNone) return false;
  std::vector<LaunchPlan::Carry> feedback;
  std::vector<size_t> changed;
  for (size_t i = 0; i + 1 < wanted_.size(); ++i) {
    if (wanted_[1 + i] == given_[i]) continue;  // Not changed by the loop.
    const uint32_t output = single_step_.gives[1 + i];
    if (output == kNone) return false;
    feedback.push_back({output, single_step_.read_at[i]});
    changed.push_back(i);
  }
  if (!program->can_repeat(go, feedback)) return false;
  Tensors results = program->repeat(scope, inputs, go, feedback, limit);
  for (size_t i = 0; i < changed.size(); ++i) given[changed[i]] = std::move(results[i]);
  return true;
}

Tensors Subgraph::apply(Scope& scope, std::span<const Size> sizes, TensorSpan given,
                        std::span<const uint8_t> spare) const {
  Sizes all;
  if (!data_dependent_sizes_.empty() || !sizes_of_inputs_.empty()) {
    all = with_data_dependent_sizes(sizes, given);
    sizes = all;
  }
  const bool is_eager = !scope.innermost() && !scope.recorder();
  if (is_eager && has_single_step()) return apply_single_step(scope, sizes, given, spare);
  std::vector<Tensor> values(graph_.n_slots());
  for (size_t i = 0; i < given_.size(); ++i) values[given_[i]] = given[i];
  size_t next_data_dependent_size = 0;
  for (const Step& step : steps_) {
    if (is_eager && step.segment) {
      run_segment(scope, sizes, step, values);
      continue;
    }
    for (size_t i = step.begin; i < step.end; ++i) {
      apply_node(scope, sizes, i, values);
      set_data_dependent_sizes(all, i, next_data_dependent_size, values);
      release_dead_values(i, i + 1, values);
    }
  }
  Tensors results;
  for (const uint32_t slot : wanted_) results.push_back(values[slot]);
  return results;
}

}  // namespace tenon
