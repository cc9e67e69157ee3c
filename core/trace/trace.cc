#include "core/trace/trace.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/profiler.h"
#include "core/dispatch/variable.h"
#include "core/trace/graph/region.h"
#include "core/trace/tracer.h"

namespace tenon {
namespace {

// Returns, for each tensor, whether at least one tape watches it. Empty if no tape is active.
std::vector<bool> find_watched(Scope& scope, TensorSpan tensors) {
  if (!scope.innermost()) return {};
  std::vector<bool> result(tensors.size(), false);
  each_tape(scope, [&](const Tape& tape) {
    for (size_t i = 0; i < tensors.size(); ++i) result[i] = result[i] || tape.watches(*tensors[i]);
  });
  return result;
}

// Locks all cells except order tokens.
std::vector<std::unique_lock<const Cell>> lock_cells(const std::vector<Ref<Cell>>& cells) {
  std::vector<const Cell*> order;  // Sorted, so that two calls cannot deadlock.
  for (const Ref<Cell>& cell : cells) {
    if (cell->kind() != Kind::kOrder) order.push_back(cell.get());
  }
  std::sort(order.begin(), order.end());
  std::vector<std::unique_lock<const Cell>> locks;
  for (const Cell* cell : order) locks.emplace_back(*cell);
  return locks;
}

// Whether the backward pass may be differentiated itself, by an outer tape or a persistent one.
bool is_differentiated_again(Scope& scope) {
  size_t n_tapes = 0;
  bool again = false;
  each_tape(scope, [&](const Tape& tape) {
    again = again || tape.options().persistent || n_tapes > 0;
    ++n_tapes;
  });
  return again;
}

}  // namespace

Trace::Trace(Context& context, std::string name, std::shared_ptr<Graph> graph,
             std::vector<Tensor> captures, std::vector<Ref<Cell>> states, Arguments statics,
             uint64_t memory_budget)
    : Object(Kind::kTrace),
      context_(Ref<Context>::share(&context)),
      name_(std::move(name)),
      graph_(std::move(graph)),
      captures_(std::move(captures)),
      states_(std::move(states)),
      statics_(std::move(statics)),
      memory_budget_(memory_budget),
      all_(*graph_, first_outputs_of(graph_->inputs()), graph_->outputs()) {
  for (Node* node : graph_->inputs()) {
    if (node->role == InputRole::kArgument) arguments_.push_back(node);
    if (node->role == InputRole::kState) state_inputs_.push_back(node);
  }
  for (const Ref<Cell>& state : states_) {
    has_effects_ = has_effects_ || state->kind() == Kind::kOrder;
    if (state->kind() == Kind::kVariable) variables_.push_back(static_cast<Variable*>(state.get()));
  }
}

namespace {

// Returns the values of the graph's symbols for these arguments; nullopt if the arguments and the
// graph's inputs differ in more than unknown sizes.
std::optional<Sizes> bind_symbols(const Graph& graph, TensorSpan arguments) {
  const SizeTable& table = graph.sizes();
  constexpr int64_t kOpen = -1;
  Sizes sizes(table.n_symbols(), kOpen);
  size_t next = 0;
  for (const Node* node : graph.inputs()) {
    if (node->role != InputRole::kArgument) continue;
    if (next == arguments.size()) return std::nullopt;
    const TensorType &type = node->types[0], &own = arguments[next++]->type;
    if (own.dtype != type.dtype || own.weak != type.weak || own.lists != type.lists ||
        own.rank() != type.rank()) {
      return std::nullopt;
    }
    for (size_t axis = 0; axis < type.rank(); ++axis) {
      const Size pattern = type.shape[axis], size = own.shape[axis];
      const std::optional<size_t> symbol = table.symbol_of(pattern);
      if (symbol && identical(sizes[*symbol], kOpen)) sizes[*symbol] = size;
      if (!identical(symbol ? sizes[*symbol] : pattern, size)) return std::nullopt;
    }
  }
  if (next != arguments.size()) return std::nullopt;
  return sizes;
}

}  // namespace

// Returns the values of the graph's symbols for these arguments; nullopt if the graph does not
// serve them.
std::optional<Sizes> sizes_for(const Graph& graph, TensorSpan arguments) {
  std::optional<Sizes> sizes = bind_symbols(graph, arguments);
  if (!sizes) return std::nullopt;
  for (const SizeTest& guard : graph.sizes().guards()) {
    if (!graph.sizes().evaluate(guard, *sizes).hold()) return std::nullopt;
  }
  return sizes;
}

// Describes the first guard that does not hold for the arguments; empty if there is none.
std::string broken_guard(const Graph& graph, TensorSpan arguments) {
  const SizeTable& table = graph.sizes();
  const std::optional<Sizes> sizes = bind_symbols(graph, arguments);
  for (size_t i = 0; sizes && i < table.guards().size(); ++i) {
    const SizeTest& guard = table.guards()[i];
    if (table.evaluate(guard, *sizes).hold()) continue;
    std::string values;
    for (size_t symbol = 0; symbol < sizes->size(); ++symbol) {
      if (table.is_data_dependent(symbol)) continue;
      values += format("{}{} is {}",
                       {values.empty() ? "" : ", ", table.symbol_name(symbol), (*sizes)[symbol]});
    }
    return format("{} requires {}, but {}", {table.cause(i), table.text(guard), values});
  }
  return "";
}

namespace {

// Appends the ops of calls with effects, in program order.
void add_effects(const Graph& graph, std::vector<const OpDef*>& effects) {
  for (const Node& node : graph.nodes()) {
    const bool is_in_order =
        any_of(node.inputs, [](const Value& x) { return x && x.type() == token_type(); });
    if (!is_in_order || node.op == &control::commit() || node.op == &control::reload()) continue;
    if (!has_regions(*node.op)) {
      effects.push_back(node.op);
      continue;
    }
    for (const auto& region : region_attrs(node.attrs.view()).regions) {
      add_effects(region->graph(), effects);
    }
  }
}

}  // namespace

std::vector<const OpDef*> Trace::effects() const {
  std::vector<const OpDef*> effects;
  if (has_effects_) add_effects(*graph_, effects);
  return effects;
}

// ---- calls

// Returns the inputs of the graph for a call: the arguments, the captures and the values of states.
Tensors Trace::inputs(Scope& scope, TensorSpan arguments) const {
  Tensors all;
  size_t argument = 0, capture = 0, state = 0;
  for (const Node* node : graph_->inputs()) {
    if (node->role == InputRole::kArgument) {
      all.push_back(without_donation(scope, arguments[argument++]));
    } else if (node->role == InputRole::kCapture) {
      all.push_back(captures_[capture++]);
    } else {
      all.push_back(read_state(scope, *states_[state++]));
    }
  }
  return all;
}

// Returns, for each input, the number of owners that its memory must have to be reused; 0 for
// never. The memory of a donated argument or a state has two owners: the list of inputs, and the
// caller's handle or the cell. A donated argument with further owners is not reused.
SmallVector<uint8_t, 16> Trace::reusable_inputs(TensorSpan arguments) const {
  SmallVector<uint8_t, 16> result;
  size_t argument = 0;
  for (const Node* node : graph_->inputs()) {
    bool is_spare = node->role == InputRole::kState;
    if (node->role == InputRole::kArgument) {
      const Tensor& x = arguments[argument++];
      is_spare = x->donation == Donation::kDonated && x->owners() == 2;
    }
    result.push_back(is_spare ? uint8_t{2} : uint8_t{0});
  }
  return result;
}

Tensors Trace::call(Scope& scope, TensorSpan arguments, const Sizes& sizes) {
  ProfileSpan span(scope, SpanKind::kFunction, name_, arguments);
  Tensors outputs = run(scope, arguments, sizes);
  span.end();
  return outputs;
}

Tensors Trace::run(Scope& scope, TensorSpan arguments, const Sizes& sizes) {
  // Locks the states, so that no other call reads or stores them until this call has stored them.
  std::vector<std::unique_lock<const Cell>> locks;
  if (!scope.traced_cells()) {
    for (const Tensor& x : arguments) {
      if (!x->type.lists || x->storage->traced) require_value(*x);
    }
    locks = lock_cells(states_);
  }
  // Value errors do not stop the call: it stores the states before it fails.
  Scope::ValueErrors wrong(scope);
  Tracer* const tracer = static_cast<Tracer*>(scope.traced_cells());
  if (tracer && has_effects_) tracer->commit();
  const bool is_donated =
      any_of(arguments, [](const Tensor& x) { return x->donation != Donation::kNone; });
  const bool are_all = arguments_.size() == graph_->inputs().size() && !is_donated;
  const Tensors held = are_all ? Tensors() : inputs(scope, arguments);
  const TensorSpan given = are_all ? arguments : TensorSpan(held);
  Tensors outputs;
  if (scope.traced_cells()) {
    outputs = all_.apply(scope, sizes, given);
  } else if (const std::vector<bool> by = find_watched(scope, given); contains(by, true)) {
    // A backward pass that is itself differentiated reruns the function, which would repeat
    // effects. In this case, the tapes record the calls of the graph one by one instead.
    outputs = has_effects_ && is_differentiated_again(scope)
                  ? all_.apply(scope, sizes, given)
                  : run_recorded(scope, Tensors(given), sizes, by);
  } else {
    const Scope::Unrecorded unrecorded(scope);
    outputs = are_all ? all_.apply(scope, sizes, given)
                      : all_.apply(scope, sizes, given, reusable_inputs(arguments).span());
    // An output may be a constant, a capture, an argument, or another output. Tapes and donation
    // must distinguish it from these.
    for (Tensor& y : outputs) {
      if (y->owners() > 1) y = alias_of(*y);
    }
  }
  if (states_.empty()) {
    wrong.raise();
    return outputs;
  }
  if (tracer && has_effects_) tracer->reload();
  Tensors results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i >= states_.size()) {
      results.push_back(std::move(outputs[i]));
    } else if (graph_->outputs()[i].node != state_inputs_[i]) {
      states_[i]->store(scope, outputs[i]);
    }
  }
  wrong.raise();
  return results;
}

// ---- gradients

// Returns the derivative of the outputs marked in `from` with respect to the inputs marked in `by`.
// If `forward` is given, the derivative can use its residuals.
std::shared_ptr<const Derivative> Trace::derivative(Scope& scope, const Sizes& sizes,
                                                    const std::vector<bool>& by,
                                                    const std::vector<bool>& from,
                                                    const Derivative* forward) {
  {
    std::lock_guard guard(mutex_);
    for (auto known = derivatives_.begin(); known != derivatives_.end(); ++known) {
      const Derivative& found = *known->derivative;
      if (!found.is_of(by, from) || !found.guards_hold(sizes)) continue;
      if (forward && !found.can_use_residuals_of(*forward)) continue;
      std::rotate(known, known + 1, derivatives_.end());
      return derivatives_.back().derivative;
    }
  }
  auto made = std::make_shared<const Derivative>(
      scope, *graph_, sizes, by, from, Derivative::ResidualLimits{memory_budget_, forward});
  std::lock_guard guard(mutex_);
  add_derivative({made, nullptr});
  return made;
}

void Trace::add_derivative(Known known) {
  if (derivatives_.size() == kMaxDerivatives) derivatives_.erase(derivatives_.begin());
  derivatives_.push_back(std::move(known));
}

Ref<Trace> Trace::trace_of_derivative(const std::shared_ptr<const Derivative>& derivative) {
  std::lock_guard guard(mutex_);
  auto known = std::find_if(derivatives_.begin(), derivatives_.end(),
                            [&](const Known& each) { return each.derivative == derivative; });
  if (known == derivatives_.end()) {  // Another thread has evicted it.
    add_derivative({derivative, nullptr});
    known = std::prev(derivatives_.end());
  }
  if (!known->whole) {
    known->whole =
        Ref<Trace>::adopt(new Trace(*context_, "the gradient of " + name_, derivative->graph(),
                                    derivative->captures(), {}, {}, memory_budget_));
  }
  return known->whole;
}

// Runs the forward pass of the derivative with respect to the inputs marked in `by`, and lets the
// tapes record the call.
Tensors Trace::run_recorded(Scope& scope, const Tensors& given, const Sizes& sizes,
                            const std::vector<bool>& by) {
  std::vector<bool> from;
  for (size_t i = 0; i < graph_->outputs().size(); ++i) {
    const TensorType& type = graph_->outputs()[i].type();
    from.push_back(i >= states_.size() && is_floating(type.dtype));
  }
  const auto forward = derivative(scope, sizes, by, from);
  Tensors all;
  {
    const Scope::Unrecorded unrecorded(scope);
    all = forward->forward(scope, sizes, given);
  }
  Tensors outputs, recorded, saved;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i >= from.size()) {
      saved.push_back(std::move(all[i]));
      continue;
    }
    // Tapes must distinguish an output from an input that is returned.
    outputs.push_back(from[i] ? alias_of(*all[i]) : std::move(all[i]));
    if (i >= states_.size()) recorded.push_back(outputs.back());
  }
  if (scope.has_value_error()) return outputs;  // The call fails: there is nothing to record.
  const bool again = is_differentiated_again(scope);
  const auto vjp = std::make_shared<const CustomVjp>(
      [self = Ref<Trace>::share(this), sizes, by, forward, saved = std::move(saved),
       kept = again ? given : Tensors()](const VjpArgs& args) {
        return self->gradients(args, sizes, by, *forward, saved, kept);
      });
  SmallVector<TensorImpl*, 6> borrowed;
  for (const Tensor& x : given) borrowed.push_back(x.get());
  each_tape(scope, [&](Tape& tape) { tape.record_call(borrowed, recorded, vjp); });
  return outputs;
}

// Runs the backward pass. `saved` are the residuals that `forward` returned. `given` are the inputs
// of the call, or empty if the backward pass is not differentiated itself.
Tensors Trace::gradients(const VjpArgs& args, const Sizes& sizes, const std::vector<bool>& by,
                         const Derivative& forward, TensorSpan saved, TensorSpan given) {
  Scope& scope = current_scope();
  std::vector<bool> from(states_.size(), false);
  Tensors cotangents;
  for (size_t i = 0; i < args.n_outputs(); ++i) {
    const TensorType& type = graph_->outputs()[states_.size() + i].type();
    from.push_back(args.has_cotangent(i) && is_floating(type.dtype));
    if (from.back()) cotangents.push_back(args.cotangent(i));
  }
  const auto way = derivative(scope, sizes, by, from, &forward);
  way->require_backward();
  bool is_seen = false;
  each_tape(scope, [&](const Tape& tape) { is_seen = is_seen || tape.is_recording(); });
  Tensors found;
  if (is_seen && !given.empty()) {
    Tensors arguments(given);
    for (const Tensor& dy : cotangents) arguments.push_back(dy);
    found = way->gradients_per_input(trace_of_derivative(way)->call(scope, arguments, sizes));
  } else {
    const std::string name = "the gradient of " + name_;
    ProfileSpan span(scope, SpanKind::kFunction, name, cotangents);
    found = way->backward(scope, sizes, saved, forward, cotangents);
    span.end();
  }
  Tensors all;
  size_t next = 0;
  for (const bool marked : by) all.push_back(marked ? std::move(found[next++]) : Tensor());
  return all;
}

}  // namespace tenon
