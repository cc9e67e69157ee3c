// Records calls on a tape. tape_gradient.cc computes gradients from the records.

#include "core/autograd/tape.h"

#include <bit>

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/dispatch/composites.h"
#include "core/dispatch/dispatch.h"

namespace tenon {
namespace {

// Calls `change`; if it throws, calls `undo` and rethrows.
template <class Undo, class Change>
void on_failure(const Undo& undo, const Change& change) {
  try {
    change();
  } catch (...) {
    undo();
    throw;
  }
}

}  // namespace

Tape::Tape(Ref<Scope> scope, TapeOptions options)
    : Interpreter(Kind::kTape, apply_on, destroy),
      scope_(std::move(scope)),
      options_(options),
      serial_(scope_->context().next_serial()) {
  scope_->push(*this);
}

Tape::~Tape() = default;

// Called when the last handle to the tape was released.
void Tape::destroy(const Interpreter& self) {
  auto& tape = const_cast<Tape&>(static_cast<const Tape&>(self));
  if (tape.is_on_scope()) {
    tape.recording_ = false;
    if (tape.scope_->remove_released(tape)) return;
  }
  delete &tape;
}

// Removes the tape from its scope. Keeps its records.
void Tape::stop() {
  if (!is_on_scope()) return;
  recording_ = false;
  scope_->remove(*this);
}

void Tape::resume() {
  check_usable();
  check_on_scope();
  recording_ = true;
}

void Tape::mark_consumed() {
  is_consumed_ = true;
  stop();
  clear_records();
}

// Clears all records and watched sources.
void Tape::clear_records() {
  node_record_.clear();
  input_nodes_.clear();
  type_words_.clear();
  by_identity_.clear();
  variable_index_.clear();
  // Destroyed after the tape is consistent again, because the destructors may run user code.
  const auto records = std::exchange(records_, {});
  const auto saved = std::exchange(saved_, {});
  const auto tensors = std::exchange(watched_tensors_, {});
  const auto variables = std::exchange(watched_variables_, {});
}

void Tape::reset() {
  require_code(n_gradients_running_ == 0, Code::kFailedPrecondition,
               "the tape is computing gradients: reset it after that call returns");
  clear_records();
  serial_ = scope_->context().next_serial();  // Invalidates the nodes that tensors store.
  is_consumed_ = false;
  if (!is_on_scope()) scope_->push(*this);
  recording_ = true;
}

// ---- nodes ----

// Returns the node of a tensor; 0 if it depends on no watched tensor.
Tape::Node Tape::node_of(const TensorImpl& x) const {
  if (x.tape_serial == serial_) return x.tape_node;
  const uint64_t identity = x.identity();
  if (identity == 0) return 0;
  const auto at = by_identity_.find(identity);
  return at == by_identity_.end() ? 0 : at->second;
}

// Whether any of these inputs depends on a watched tensor.
bool Tape::watches_any(Inputs inputs) const {
  for (const TensorImpl* x : inputs) {
    if (x && node_of(*x) != 0) return true;
  }
  return false;
}

// Assigns `node` to `x`. A fresh tensor, which no other code can access yet, stores its first node
// in TensorImpl. All other nodes are stored in the table by_identity_.
void Tape::set_node(TensorImpl& x, Node node, bool fresh) {
  if (fresh && x.tape_serial == 0) {
    x.tape_serial = serial_;
    x.tape_node = node;
  } else {
    by_identity_[x.assign_identity()] = node;
  }
}

// Adds a record without inputs, and returns its only node.
Tape::Node Tape::new_leaf() {
  node_record_.push_back(static_cast<uint32_t>(records_.size()));
  on_failure([&] { node_record_.pop_back(); }, [&] { records_.emplace_back(); });
  Record& record = records_.back();
  record.n_outputs = 1;
  record.first_output = static_cast<Node>(node_record_.size());
  return record.first_output;
}

// Throws if the tape was consumed or is computing gradients.
void Tape::check_usable() const {
  require_code(!is_consumed_, Code::kFailedPrecondition,
               "the tape was consumed by an earlier gradient call: create it as persistent to call "
               "gradient several times");
  require_code(options_.persistent || n_gradients_running_ == 0, Code::kFailedPrecondition,
               "the tape is computing gradients, which consumes it: create it as persistent to use "
               "it during the computation");
}

// Throws if the tape was removed from its scope.
void Tape::check_on_scope() const {
  require_code(
      is_on_scope(), Code::kFailedPrecondition,
      "the callback that created the tape has ended, so the tape no longer records: reset it");
}

void Tape::watch(const Source& source) {
  check_usable();
  check_on_scope();
  if (const auto* variable = std::get_if<Ref<Variable>>(&source)) {
    const TensorType& type = (*variable)->type();
    require(is_floating(type.dtype),
            "only floating-point values can be watched, but the source is {}", type);
    if (variable_index_.contains(variable->get())) return;
    watched_variables_.push_back({*variable, {}});
    on_failure([&] { watched_variables_.pop_back(); },
               [&] { variable_index_.emplace(variable->get(), watched_variables_.size() - 1); });
    return;
  }
  const Tensor& x = std::get<Tensor>(source);
  require(x->donation == Donation::kNone, "a donated tensor cannot be watched");
  require(is_floating(x->type.dtype),
          "only floating-point values can be watched, but the source is {}", x->type);
  if (node_of(*x) != 0) return;
  watched_tensors_.push_back(x);
  on_failure([&] { watched_tensors_.pop_back(); }, [&] { set_node(*x, new_leaf(), false); });
}

// Returns the explicitly watched tensors, followed by the variables that were read or watched.
std::vector<Source> Tape::watched() const {
  std::vector<Source> all(watched_tensors_.begin(), watched_tensors_.end());
  for (const WatchedVariable& watched : watched_variables_) all.emplace_back(watched.variable);
  return all;
}

// Called when `variable` is read and returns `value`. The gradient with respect to the variable is
// the sum of the gradients with respect to the values of all its reads.
void Tape::on_read(Variable& variable, TensorImpl& value) {
  if (!recording_ || !is_floating(value.type.dtype)) return;
  auto at = variable_index_.find(&variable);
  if (at == variable_index_.end()) {
    if (!options_.watch_trainable || !variable.trainable()) return;
    watched_variables_.push_back({Ref<Variable>::share(&variable), {}});
    on_failure(
        [&] { watched_variables_.pop_back(); },
        [&] { at = variable_index_.emplace(&variable, watched_variables_.size() - 1).first; });
  }
  const Node node = new_leaf();
  watched_variables_[at->second].reads.push_back(node);
  set_node(value, node, true);
}

// Notifies the tapes of the scope that a variable was read.
void tapes_on_read(Scope& scope, Variable& variable, TensorImpl& value) {
  each_tape(scope, [&](Tape& tape) { tape.on_read(variable, value); });
}

// Assigns the node of `from` to `to` in each active tape of the scope.
void tapes_assign_same_node(Scope& scope, const TensorImpl& from, TensorImpl& to) {
  each_tape(scope, [&](Tape& tape) { tape.assign_same_node(from, to); });
}

// Assigns the node of `from` to `to`, a new tensor.
void Tape::assign_same_node(const TensorImpl& from, TensorImpl& to) {
  if (const Node node = node_of(from); node != 0) set_node(to, node, true);
}

// ---- records ----

// Passes the call to the next outer interpreter or, if there is none, runs it eagerly.
Tensors Tape::apply_outside(const Call& call) {
  Scope& scope = *scope_;
  Interpreter* top = scope.innermost();
  return top ? top->apply(scope, call) : eager(scope, call);
}

// Executes a call in a scope whose innermost interpreter is this tape.
Tensors Tape::apply_on(Interpreter& self, Scope& scope, const Call& call) {
  Tape& tape = static_cast<Tape&>(self);
  if (!tape.recording_ || !tape.watches_any(call.inputs)) {
    Scope::Below below(scope, tape);
    return tape.apply_outside(call);
  }
  const OpDef& op = call.op;
  if (op.linearize) return tape.linearize(call);
  // Normally, the tape records the ops of a decomposition one by one. If the device has a kernel
  // for the composite op, or its cached launches cost little, the tape adds a single record
  // instead. The backward pass then recomputes the decomposition.
  const bool in_parts = !op.vjp && op.decompose && op.differentiable;
  const bool accumulates = in_parts && !has_kernel(scope, call);
  if (accumulates && !tape.may_recompute(call)) return composites(scope).call(call);

  const uint64_t saved = in_parts ? ~uint64_t{0} : op.saved_inputs;
  Tensors outputs;
  {
    const Tensors kept = tape.donated(call.inputs, saved);
    Scope::Below below(scope, tape);
    outputs = tape.apply_outside(call);
  }
  bool any_floating = false;
  for (const Tensor& y : outputs) any_floating = any_floating || is_floating(y->type.dtype);
  if (!any_floating) return outputs;  // Other outputs carry no gradients.
  make_outputs_distinct(call.inputs, outputs);

  OwnedAttrs attrs(call.attrs);
  Record& record = tape.new_record(call.inputs, call.types, outputs, saved, op.saved_outputs);
  record.op = &op;
  record.attrs = std::move(attrs);
  record.recompute = in_parts;
  record.accumulates = accumulates;
  return outputs;
}

// User code may return one of its inputs, or the same tensor twice. Replaces these outputs by
// aliases, so that all inputs and outputs of a record are distinct tensors.
void Tape::make_outputs_distinct(Inputs inputs, Tensors& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]->owners() == 1) continue;
    const auto is_it = [&](const Tensor& x) { return x.get() == outputs[i].get(); };
    const bool is_input =
        any_of(inputs, [&](const TensorImpl* x) { return x == outputs[i].get(); });
    if (is_input || std::any_of(outputs.begin(), outputs.begin() + i, is_it)) {
      outputs[i] = alias_of(*outputs[i]);
    }
  }
}

// Returns the donated inputs that the record saves. Holding them prevents the call from writing its
// outputs into their memory.
Tensors Tape::donated(Inputs inputs, uint64_t saved) {
  Tensors all;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_donated = inputs[i] && inputs[i]->donation == Donation::kDonated;
    if (is_donated && (saved >> std::min<size_t>(i, 63) & 1))
      all.push_back(Tensor::share(inputs[i]));
  }
  return all;
}

// Whether the call can be one record that recomputes the decomposition, with the same gradients as
// recording op by op. This requires that no two inputs have the same node.
bool Tape::may_recompute(const Call& call) const {
  std::vector<Node> nodes;
  for (const TensorImpl* x : call.inputs) {
    const Node node = x ? node_of(*x) : 0;
    if (node == 0) continue;
    if (x->type.weak || contains(nodes, node)) return false;
    nodes.push_back(node);
  }
  return call.inputs.size() < 32 && composites(*scope_).should_record_as_one_op(call);
}

// Applies an op that computes its outputs together with its derivative, and records the call.
Tensors Tape::linearize(const Call& call) {
  std::vector<bool> by;
  for (const TensorImpl* x : call.inputs) {
    by.push_back(node_of(*x) != 0 && is_floating(x->type.dtype));
  }
  Linearized made;
  {
    Scope::Below below(*scope_, *this);
    made = call.op.linearize(*scope_, call, by);
  }
  record_call(call.inputs, made.outputs, made.vjp, made.keeps ? ~uint64_t{0} : 0);
  return std::move(made.outputs);
}

void Tape::record_call(Inputs inputs, const Tensors& outputs,
                       const std::shared_ptr<const CustomVjp>& vjp, uint64_t kept) {
  if (!recording_ || !watches_any(inputs)) return;
  SmallVector<const TensorType*, 6> types;
  for (const TensorImpl* x : inputs) types.push_back(&x->type);
  new_record(inputs, {types.data(), types.size()}, outputs, kept, kept).custom = vjp;
}

// Adds a record. Restores the vectors of the tape if memory runs out.
Tape::Record& Tape::new_record(Inputs inputs, TypeSpan types, const Tensors& outputs,
                               uint64_t kept_inputs, uint64_t kept_outputs) {
  const size_t n_nodes = node_record_.size(), n_input_nodes = input_nodes_.size(),
               n_words = type_words_.size(), n_saved = saved_.size(), n_records = records_.size();
  on_failure(
      [&] {
        node_record_.resize(n_nodes);
        input_nodes_.resize(n_input_nodes);
        type_words_.resize(n_words);
        saved_.resize(n_saved);
        records_.resize(n_records);
      },
      [&] { add_record(inputs, types, outputs, kept_inputs, kept_outputs); });
  return records_.back();
}

// Adds a record without restoring the vectors on failure.
void Tape::add_record(Inputs inputs, TypeSpan types, const Tensors& outputs, uint64_t kept_inputs,
                      uint64_t kept_outputs) {
  Record& record = records_.emplace_back();
  record.n_inputs = static_cast<uint32_t>(inputs.size());
  record.n_outputs = static_cast<uint32_t>(outputs.size());
  record.nodes_at = static_cast<uint32_t>(input_nodes_.size());
  record.types_at = static_cast<uint32_t>(type_words_.size());
  record.saved_at = static_cast<uint32_t>(saved_.size());
  record.kept_inputs = kept_inputs;
  record.kept_outputs = kept_outputs;
  record.first_output = static_cast<Node>(node_record_.size()) + 1;

  for (size_t i = 0; i < inputs.size(); ++i) {
    input_nodes_.push_back(inputs[i] ? node_of(*inputs[i]) : 0);
    write_type(types[i]);
    if (kept_inputs >> std::min<size_t>(i, 63) & 1) {
      Tensor x = Tensor::share(inputs[i]);
      if (x && x->donation != Donation::kNone) [[unlikely]]
        x = tracked_alias(*scope_, x);  // The call consumes the donated handle.
      saved_.push_back(std::move(x));
    }
  }
  const auto index = static_cast<uint32_t>(records_.size() - 1);
  for (size_t i = 0; i < outputs.size(); ++i) {
    TensorImpl& y = *outputs[i];
    node_record_.push_back(index);
    if (is_floating(y.type.dtype)) {
      set_node(y, record.first_output + static_cast<Node>(i), y.owners() == 1);
    }
    write_type(y.type);
    if (kept_outputs >> std::min<size_t>(i, 63) & 1) saved_.push_back(outputs[i]);
  }
}

// Encodes a type in type_words_. read_type() decodes the type at `at` and advances `at`.
void Tape::write_type(const TensorType& type) {
  type_words_.push_back(static_cast<int64_t>(type.dtype) | static_cast<int64_t>(type.rank()) << 8 |
                        static_cast<int64_t>(type.weak) << 16 |
                        static_cast<int64_t>(type.lists) << 17);
  for (const Size size : type.shape) type_words_.push_back(size.word());
}

TensorType Tape::read_type(uint32_t& at) const {
  const int64_t word = type_words_[at++];
  TensorType type;
  type.dtype = static_cast<DType>(word & 0xff);
  type.weak = word >> 16 & 1;
  type.lists = static_cast<uint8_t>(word >> 17 & 0xff);
  type.shape.set_rank(static_cast<size_t>(word >> 8 & 0xff));
  for (size_t axis = 0; axis < type.rank(); ++axis)
    type.shape[axis] = Size::from_word(type_words_[at++]);
  return type;
}

}  // namespace tenon
