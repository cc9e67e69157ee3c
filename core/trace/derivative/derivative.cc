#include "core/trace/derivative/derivative.h"

#include <algorithm>

#include "core/autograd/tape.h"
#include "core/base/search.h"
#include "core/base/work_steps.h"
#include "core/trace/graph/order.h"
#include "core/trace/tracer.h"

namespace tenon {
namespace {

template <class A, class B>
std::vector<Value> concatenate(const A& a, const B& b) {
  std::vector<Value> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

// Whether an input of the node is an order token.
bool has_effects(const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [](const Value& x) { return x && x.type().is_token(); });
}

// Finds a value in a list sorted by slot. Returns end() if it is absent.
std::vector<Value>::const_iterator find_slot(const std::vector<Value>& sorted, uint32_t slot) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), slot,
                                   [](const Value& x, uint32_t other) { return x.slot() < other; });
  count_steps();
  return at != sorted.end() && at->slot() == slot ? at : sorted.end();
}

// Whether recomputing the node changes nothing. Host calls and ops with effects must run only once.
bool may_be_repeated(const Node& node) {
  return node.kind != NodeKind::kCall || (!node.op->payload && !has_effects(node));
}

}  // namespace

Derivative::Derivative(Scope& scope, const Graph& primal, std::span<const Size> sizes,
                       const std::vector<bool>& by, const std::vector<bool>& from,
                       const ResidualLimits& keep)
    : by_(by), from_(from) {
  std::vector<std::optional<int64_t>> examples;
  for (size_t i = 0; i < sizes.size(); ++i) {
    examples.push_back(primal.sizes().is_data_dependent(i) ? std::nullopt : example_of(sizes[i]));
  }
  Tracer tracer(scope, *graph_);
  tracer.disable_warnings();
  const Sizes symbols = graph_->sizes().import_symbols(primal.sizes(), examples);
  Tensors inputs;
  for (const Node* node : primal.inputs()) {
    inputs.push_back(tracer.input(substitute_sizes(primal, node->types[0], symbols),
                                  InputRole::kArgument, node->names[0], *node->device));
    inputs_.push_back(tracer.value_of(*inputs.back()));
  }
  const auto tape = Ref<Tape>::adopt(
      new Tape(Ref<Scope>::share(&scope), {.persistent = false, .watch_trainable = false}));
  std::vector<Source> sources;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!by[i]) continue;
    tape->watch(inputs[i]);
    sources.emplace_back(inputs[i]);
  }
  std::vector<Value> primal_inputs;
  for (Node* node : primal.inputs()) primal_inputs.push_back(node->output());
  const Tensors outputs =
      Subgraph(primal, primal_inputs, primal.outputs()).apply(scope, symbols, inputs);
  Tensors targets, cotangents;
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs_.push_back(tracer.value_of(*outputs[i]));
    if (!from[i]) continue;
    targets.push_back(outputs[i]);
  }
  const uint32_t first_backward_slot = graph_->n_slots();
  for (const Tensor& y : targets) {
    Device& device = y->storage ? *y->storage->device : scope.device();
    cotangents.push_back(tracer.input(y->type, InputRole::kArgument, "", device));
    cotangents_.push_back(tracer.value_of(*cotangents.back()));
  }
  try {
    const Tensors found = tape->gradient(targets, cotangents, sources, {.unreached_as_null = true});
    for (const Tensor& dx : found) gradients_.push_back(dx ? tracer.value_of(*dx) : Value());
  } catch (const Error& error) {
    if (error.is_transient()) throw;
    error_ = error;
    gradients_.assign(sources.size(), Value());
  }
  std::vector<Value> there;
  for (const Value& dx : gradients_) {
    if (dx) there.push_back(dx);
  }
  size_t next = 0;
  for (Node* node : graph_->inputs()) {
    if (node->role == InputRole::kArgument) continue;
    const bool is_order = node->types[0] == token_type();
    if (is_order) order_ = captures_.size();
    if (!is_order && node->role == InputRole::kState) continue;
    captured_.push_back(node->output());
    captures_.push_back(is_order ? make_token(*node->device) : tracer.captures()[next++]);
    node->role = InputRole::kCapture;
  }
  // The order token is an output, so that dead-code elimination keeps the effects of the backward
  // pass.
  if (order_) there.push_back(tracer.value_of(*tracer.load(tracer.order())));
  graph_->set_outputs(there);
  input_at_.assign(graph_->n_slots(), inputs_.size());
  for (size_t i = inputs_.size(); i-- > 0;) input_at_[inputs_[i].slot()] = i;
  find_saved(first_backward_slot, examples, keep);
  find_effect_results();
  if (any_of(inputs_, [](const Value& x) { return x.type() == token_type(); })) {
    forward_saving_effects_.emplace(*graph_, concatenate(inputs_, captured_),
                                    concatenate(outputs_, saved_effects_));
    recompute_.emplace(*graph_, concatenate(concatenate(inputs_, saved_effects_), captured_),
                       saved_);
  }
  forward_.emplace(*graph_, concatenate(inputs_, captured_), concatenate(outputs_, saved_));
  make_backward(first_backward_slot);
}

// Returns the residuals: values of the forward pass (slots below `end`) that the backward pass
// reads. Inputs are always residuals. Other values are recomputed if they have no operands or
// `is_kept` is false for them.
std::vector<Value> Derivative::residuals_of_backward(
    uint32_t end, const std::function<bool(const Value&)>& is_kept) const {
  std::vector<bool> seen(graph_->n_slots(), false), is_captured = seen;
  // Marks visited nodes, indexed by first slot. A node with many outputs is visited once.
  std::vector<bool> is_entered = seen;
  for (const Value& x : captured_) is_captured[x.slot()] = true;
  std::vector<Value> open(graph_->outputs().begin(), graph_->outputs().end()), taken;
  while (!open.empty()) {
    count_steps();
    const Value x = open.back();
    open.pop_back();
    if (!x || seen[x.slot()]) continue;
    seen[x.slot()] = true;
    if (is_captured[x.slot()] || x.node->kind == NodeKind::kConstant) continue;
    const bool is_input = x.node->kind == NodeKind::kInput;
    if (x.slot() < end && (is_input || (!x.node->inputs.empty() && is_kept(x)))) {
      taken.push_back(x);
      continue;
    }
    if (is_entered[x.node->first_slot]) continue;
    is_entered[x.node->first_slot] = true;
    open.insert(open.end(), x.node->inputs.begin(), x.node->inputs.end());
  }
  std::sort(taken.begin(), taken.end(),
            [](const Value& a, const Value& b) { return a.slot() < b.slot(); });
  return taken;
}

// Sets saved_, the residuals that the forward pass saves. `examples` are the sizes of the traced
// call, where known.
void Derivative::find_saved(uint32_t end, std::span<const std::optional<int64_t>> examples,
                            const ResidualLimits& keep) {
  saved_ = residuals_of_backward(end, [](const Value&) { return true; });
  std::vector<bool> is_kept(graph_->n_slots(), false);
  if (keep.forward) {
    for (const Value& x : keep.forward->saved_) is_kept[x.slot()] = true;
  } else if (keep.memory_budget != kSaveAll) {
    constexpr int64_t kUsual = 64;  // Replaces sizes that are unknown in the traced call.
    Sizes sizes;
    for (const std::optional<int64_t>& example : examples)
      sizes.push_back(example.value_or(kUsual));
    const auto bytes_of = [&](const Value& x) {
      const TensorType type = substitute_sizes(*graph_, x.type(), sizes);
      return static_cast<uint64_t>(count(type.shape)) * size_of(type.dtype);
    };
    for (const Value& x : choose_residuals(*graph_, end, saved_, bytes_of, keep.memory_budget)) {
      is_kept[x.slot()] = true;
    }
  } else {
    return;
  }
  saved_ = residuals_of_backward(
      end, [&](const Value& x) { return is_kept[x.slot()] || !may_be_repeated(*x.node); });
}

// Builds the backward pass. Rematerialised values are recomputed immediately before their first
// use, which keeps peak memory low.
void Derivative::make_backward(uint32_t end) {
  const std::vector<Value> given = concatenate(concatenate(saved_, cotangents_), captured_);
  const Subgraph slice(*graph_, given, graph_->outputs());
  const std::span<const Node* const> nodes = slice.nodes();
  const auto is_repeated = [&](const Node* node) {
    return node->first_slot < end && !node->inputs.empty();
  };
  if (!any_of(nodes, is_repeated)) {
    backward_.emplace(*graph_, given, graph_->outputs());
    return;
  }
  backward_graph_ = std::make_shared<Graph>(graph_->shared_sizes());
  std::vector<Value> now(graph_->n_slots());
  for (const Value& x : given) {
    now[x.slot()] =
        backward_graph_->add_input(x.type(), InputRole::kArgument, x.name(), *x.node->device);
  }
  const auto copy = [&](const Node& node) {
    Values inputs;
    for (const Value& x : node.inputs) inputs.push_back(x ? now[x.slot()] : Value());
    Node& made = backward_graph_->add_copy(node, std::move(inputs));
    for (uint32_t i = 0; i < made.types.size(); ++i) now[node.first_slot + i] = made.output(i);
  };
  std::vector<bool> is_missing(graph_->n_slots(), false);  // By the first slot of each node.
  for (const Node* node : nodes) {
    if (node->first_slot < end) continue;
    std::vector<const Node*> missing, open = {node};
    while (!open.empty()) {
      const Node* next = open.back();
      open.pop_back();
      for (const Value& x : next->inputs) {
        count_steps();
        if (!x || now[x.slot()] || x.node->first_slot >= end) continue;
        if (is_missing[x.node->first_slot]) continue;
        is_missing[x.node->first_slot] = true;
        missing.push_back(x.node);
        open.push_back(x.node);
      }
    }
    std::sort(missing.begin(), missing.end(),
              [](const Node* a, const Node* b) { return a->first_slot < b->first_slot; });
    for (const Node* each : missing) copy(*each);
    copy(*node);
  }
  std::vector<Value> outputs;
  for (const Value& y : graph_->outputs()) outputs.push_back(now[y.slot()]);
  backward_graph_->set_outputs(outputs);
  backward_.emplace(*backward_graph_, first_outputs_of(backward_graph_->inputs()), outputs);
}

// Returns the index of the input of the primal graph that is this residual; nullopt if it is no
// input.
std::optional<size_t> Derivative::input_index_of(const Value& saved) const {
  const size_t i = input_at_[saved.slot()];
  return i < inputs_.size() ? std::optional(i) : std::nullopt;
}

// Finds the outputs of calls with effects on which residuals depend. They are saved, because the
// backward pass must not repeat effects.
void Derivative::find_effect_results() {
  std::vector<bool> seen(graph_->n_slots(), false), is_entered = seen, is_effect = seen;
  std::vector<Value> open = saved_;
  while (!open.empty()) {
    const Value x = open.back();
    open.pop_back();
    count_steps();
    if (!x || seen[x.slot()]) continue;
    seen[x.slot()] = true;
    const uint32_t node = x.node->first_slot;
    if (!is_entered[node]) {
      is_entered[node] = true;
      is_effect[node] = has_effects(*x.node);
      if (!is_effect[node]) {
        open.insert(open.end(), x.node->inputs.begin(), x.node->inputs.end());
      }
    }
    if (is_effect[node]) saved_effects_.push_back(x);
  }
  for (const Value& x : inputs_) inputs_of_saved_.push_back(seen[x.slot()]);
}

// Whether the forward pass of `forward` saves every residual that this backward pass reads.
bool Derivative::can_use_residuals_of(const Derivative& forward) const {
  return all_of(saved_, [&](const Value& x) {
    return find_slot(forward.saved_, x.slot()) != forward.saved_.end();
  });
}

bool Derivative::guards_hold(std::span<const Size> sizes) const {
  return all_of(graph_->sizes().guards(), [&](const SizeTest& guard) {
    return bool(graph_->sizes().evaluate(guard, sizes));
  });
}

void Derivative::require_guards(std::span<const Size> sizes) const {
  for (const SizeTest& guard : graph_->sizes().guards()) {
    require_code(graph_->sizes().evaluate(guard, sizes).hold(), Code::kUnimplemented,
                 "the derivative of this function needs {}", graph_->sizes().text(guard));
  }
}

Tensors Derivative::forward(Scope& scope, std::span<const Size> sizes, TensorSpan inputs) const {
  Tensors given(inputs);
  for (const Tensor& x : captures_) given.push_back(x);
  return forward_->apply(scope, sizes, given);
}

Tensors Derivative::backward(Scope& scope, std::span<const Size> sizes, TensorSpan saved,
                             const Derivative& saved_by, TensorSpan cotangents) const {
  Tensors given;
  for (const Value& x : saved_) {
    // Both derivatives traced the same forward calls, so the slots match.
    const auto at = find_slot(saved_by.saved_, x.slot());
    require_code(at != saved_by.saved_.end(), Code::kInternal,
                 "the backward pass needs {}, which the forward pass did not save", x.name());
    given.push_back(saved[static_cast<size_t>(at - saved_by.saved_.begin())]);
  }
  for (const Tensor& dy : cotangents) given.push_back(dy);
  const size_t first_capture = given.size();
  for (const Tensor& x : captures_) given.push_back(x);
  auto* tracer = static_cast<Tracer*>(scope.traced_cells());
  if (!order_ || !tracer) return gradients_per_input(backward_->apply(scope, sizes, given));
  tracer->commit();
  given[first_capture + *order_] = tracer->load(tracer->order());
  Tensors found = backward_->apply(scope, sizes, given);
  tracer->store(tracer->order(), found.back());
  return gradients_per_input(std::move(found));
}

// Returns the outputs of the primal graph, followed by the results of calls with effects.
Tensors Derivative::forward_saving_effects(Scope& scope, std::span<const Size> sizes,
                                           TensorSpan inputs) const {
  Tensors given(inputs);
  for (const Tensor& x : captures_) given.push_back(x);
  return forward_saving_effects_->apply(scope, sizes, given);
}

Tensors Derivative::recompute_residuals(Scope& scope, std::span<const Size> sizes,
                                        TensorSpan inputs, TensorSpan effect_results) const {
  if (!recompute_) {
    const Tensors given = forward(scope, sizes, inputs);
    return Tensors(TensorSpan(given).subspan(outputs_.size()));
  }
  Tensors given(inputs);
  for (const Tensor& x : effect_results) given.push_back(x);
  for (const Tensor& x : captures_) given.push_back(x);
  return recompute_->apply(scope, sizes, given);
}

// Converts the outputs of graph() to one gradient per marked input, null if an input has none.
Tensors Derivative::gradients_per_input(Tensors gradients) const {
  Tensors all;
  size_t next = 0;
  for (const Value& dx : gradients_) all.push_back(dx ? std::move(gradients[next++]) : Tensor());
  return all;
}

}  // namespace tenon
