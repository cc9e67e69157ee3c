// The gradient tape: records the calls that gradients need, and computes gradients backward.
//
// A tape assigns a node to each tensor that depends on a watched tensor, and adds a record for each
// call that produced one. A record holds the nodes and types of its operands, and the residuals
// that the op's derivative declares. A tape keeps no other tensors alive.

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/dispatch/dispatch.h"
#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"
#include "core/dispatch/variable.h"

namespace tenon {

struct TapeOptions {
  // Whether gradient() may be called repeatedly. The tape records these calls, too, which allows
  // higher-order gradients.
  bool persistent = false;
  bool watch_trainable = true;  // Whether to watch trainable variables when they are read.
};

struct GradientOptions {
  // Whether to return NULL instead of zeros for a source on which no target depends.
  bool unreached_as_null = false;
};

// A tensor or a variable with respect to which a gradient is computed.
using Source = std::variant<Tensor, Ref<Variable>>;

class Tape final : public Interpreter, public Pooled<Tape> {
 public:
  // Starts recording: pushes itself onto the scope.
  Tape(Ref<Scope> scope, TapeOptions options);

  Scope& scope() const { return *scope_; }
  const TapeOptions& options() const { return options_; }

  // Starts recording the calls that depend on `source`, which must be floating point.
  void watch(const Source& source);
  // Returns the tensors that were watched explicitly, followed by the variables that were read or
  // watched.
  std::vector<Source> watched() const;

  bool is_recording() const { return recording_ && is_on_scope(); }
  bool is_consumed() const { return is_consumed_; }
  void pause() { recording_ = false; }
  void resume();
  // Clears all records and watched sources. A consumed tape can be used again afterwards. Fails
  // during a gradient computation.
  void reset();
  // Removes the tape from its scope. Keeps its records.
  void stop();

  // Computes the gradients of the sum of the targets, weighted by the cotangents, with respect to
  // each source.
  Tensors gradient(std::span<const Tensor> targets, std::span<const Tensor> cotangents,
                   std::span<const Source> sources, GradientOptions options = {});
  Tensor gradient(const Tensor& target, const Tensor& source);

  // Computes d target / d source for each source. The result has shape target.shape + source.shape.
  Tensors jacobian(const Tensor& target, std::span<const Source> sources,
                   GradientOptions options = {});

  // Whether the tape would record a call with input `x`.
  bool watches(const TensorImpl& x) const { return recording_ && node_of(x) != 0; }

  // Called when `variable` is read and returns `value`. The gradient with respect to the variable
  // is the sum of the gradients with respect to the values of all its reads.
  void on_read(Variable& variable, TensorImpl& value);
  // Assigns the node of `from` to `to`, a new tensor that no other code can access yet.
  void assign_same_node(const TensorImpl& from, TensorImpl& to);
  // Records a call that has the derivative `vjp` instead of an op. Bit i of `kept` saves input i
  // and output i for the derivative. record_custom() saves all inputs and outputs.
  void record_call(Inputs inputs, const Tensors& outputs,
                   const std::shared_ptr<const CustomVjp>& vjp, uint64_t kept = 0);
  void record_custom(Inputs inputs, const Tensors& outputs,
                     const std::shared_ptr<const CustomVjp>& vjp) {
    record_call(inputs, outputs, vjp, ~uint64_t{0});
  }

 private:
  using Node = uint32_t;  // 0: no node.
  class Args;

  // One recorded call. Variable-length data is in the vectors below.
  struct Record {
    const OpDef* op = nullptr;  // NULL for a leaf or a custom derivative.
    OwnedAttrs attrs;
    std::shared_ptr<const CustomVjp> custom;
    Node first_output = 0;
    uint32_t n_inputs = 0;
    uint32_t n_outputs = 0;
    uint32_t nodes_at = 0;  // Index into input_nodes_.
    uint32_t types_at = 0;  // Index into type_words_: the inputs, then the outputs.
    uint32_t saved_at = 0;  // Index into saved_: the saved inputs, then the saved outputs.
    uint64_t kept_inputs = 0;
    uint64_t kept_outputs = 0;
    bool recompute = false;  // Whether the backward pass recomputes the decomposition.
    // Whether the derivative adds to the cotangents of the inputs after each op of the
    // decomposition. Cotangents are then summed in the same order as if the tape had recorded the
    // ops one by one.
    bool accumulates = false;
  };

  // Executes a call in a scope whose innermost interpreter is this tape.
  static Tensors apply_on(Interpreter& self, Scope& scope, const Call& call);
  // Called when the last handle was released.
  static void destroy(const Interpreter& self);
  ~Tape();

  // Passes the call to the next outer interpreter.
  Tensors apply_outside(const Call& call);
  // Returns the donated inputs whose bit in `saved` is set.
  static Tensors donated(Inputs inputs, uint64_t saved);
  // Replaces outputs that are inputs, or occur twice, by aliases.
  static void make_outputs_distinct(Inputs inputs, Tensors& outputs);
  // Applies an op that has OpDef::linearize, and records it.
  Tensors linearize(const Call& call);
  // Returns the node of a tensor; 0 if it depends on no watched tensor.
  Node node_of(const TensorImpl& x) const;
  bool watches_any(Inputs inputs) const;
  // Adds a record without inputs, and returns its only node.
  Node new_leaf();
  // Assigns `node` to `x`. `fresh`: no other code can access `x` yet.
  void set_node(TensorImpl& x, Node node, bool fresh);
  // Adds a record. Bit i of `kept_inputs` and `kept_outputs` saves input i and output i.
  Record& new_record(Inputs inputs, TypeSpan types, const Tensors& outputs, uint64_t kept_inputs,
                     uint64_t kept_outputs);
  // Like new_record(), but leaves the vectors inconsistent if memory runs out.
  void add_record(Inputs inputs, TypeSpan types, const Tensors& outputs, uint64_t kept_inputs,
                  uint64_t kept_outputs);
  // Appends a type to type_words_.
  void write_type(const TensorType& type);
  // Decodes the type at index `at` of type_words_, and advances `at`.
  TensorType read_type(uint32_t& at) const;

  // Returns the nodes of a source. A variable has a node for each read.
  std::vector<Node> nodes_of(const Source& source) const;
  // Marks the nodes that depend on at least one source.
  std::vector<bool> mark_dependents(const std::vector<std::vector<Node>>& sources) const;
  // Runs a function that computes gradients. Afterwards, a tape that is not persistent is consumed.
  template <class Compute>
  Tensors run_gradients(const Compute& compute);
  // Computes the gradients for gradient() and for nested computations. `keep`: keeps the residuals.
  // `before`: cotangents already accumulated for the sources.
  Tensors compute_gradients(std::span<const Tensor> targets, std::span<const Tensor> cotangents,
                            std::span<const Source> sources, GradientOptions options, bool keep,
                            TensorSpan before = {});
  // Computes the Jacobian row by row: one row for each element of the target.
  Tensors compute_jacobian(const Tensor& target, std::span<const Source> sources,
                           GradientOptions options);
  // Whether the call can be one record that recomputes its decomposition.
  bool may_recompute(const Call& call) const;
  // Computes the gradients of the inputs of a record. `before`: cotangents already accumulated for
  // each node.
  Tensors derivative(const Record& record, const Args& args, const std::vector<Tensor>& before);
  // Recomputes the decomposition of a record and differentiates it. `before`: cotangents already
  // accumulated for each input.
  Tensors differentiate_decomposition(const Record& record, const Args& args, TensorSpan before);
  // Throws if the tape was consumed or is computing gradients.
  void check_usable() const;
  // Throws if the tape was removed from its scope.
  void check_on_scope() const;
  void mark_consumed();
  void clear_records();

  Ref<Scope> scope_;
  TapeOptions options_;
  uint64_t serial_;
  bool recording_ = true;
  bool is_consumed_ = false;
  int n_gradients_running_ = 0;  // Gradient computations in progress.

  std::vector<Record> records_;
  std::vector<uint32_t> node_record_;  // Index of the record that defines node i + 1.
  std::vector<Node> input_nodes_;
  std::vector<int64_t> type_words_;
  std::vector<Tensor> saved_;
  // Nodes by tensor identity, for tensors that do not store this tape's node themselves.
  std::unordered_map<uint64_t, Node> by_identity_;
  std::vector<Tensor> watched_tensors_;
  struct WatchedVariable {
    Ref<Variable> variable;
    std::vector<Node> reads;
  };
  std::vector<WatchedVariable> watched_variables_;
  std::unordered_map<const Variable*, size_t> variable_index_;
};

// Visits the active tapes of a scope, innermost first.
template <class Visit>
void each_tape(Scope& scope, Visit&& visit) {
  for (Interpreter* i = scope.innermost(); i; i = i->outer()) {
    if (i->kind() == Kind::kTape) visit(static_cast<Tape&>(*i));
  }
}

}  // namespace tenon
