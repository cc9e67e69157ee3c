// The gradient tape: records the calls that gradients need, and computes gradients backward.
//
// A tape assigns a node to each tensor that depends on a watched tensor, and adds a record for each
// call that produced one. A record holds the nodes and types of its operands, and the residuals
// that the op's derivative declares. Nothing else is kept alive.

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
  bool persistent = false;  // Whether several gradient calls are allowed; they are recorded, too.
  bool watch_trainable = true;  // Whether to watch trainable variables when they are read.
};

struct GradientOptions {
  bool unreached_as_null =
      false;  // Whether to return NULL instead of zeros for a source that no target depends on.
};

// What gradients can be taken with respect to: a tensor or a variable.
using Source = std::variant<Tensor, Ref<Variable>>;

class Tape final : public Interpreter, public Pooled<Tape> {
 public:
  // Starts recording: pushes itself onto the scope.
  Tape(Ref<Scope> scope, TapeOptions options);

  Scope& scope() const { return *scope_; }
  const TapeOptions& options() const { return options_; }

  // Records what depends on `source` from now on. Floating-point tensors only.
  void watch(const Source& source);
  // Every tensor that was watched explicitly, then every variable that was read or watched.
  std::vector<Source> watched() const;

  bool is_recording() const { return recording_ && is_on_scope(); }
  bool is_consumed() const { return is_consumed_; }
  void pause() { recording_ = false; }
  void resume();
  // Clears all records and watched sources. A consumed tape can be used again afterwards. Fails
  // during a gradient computation.
  void reset();
  // Removes the tape from its scope. Its records stay.
  void stop();

  // Computes the gradients of the sum of the targets, weighted by the cotangents, with respect to
  // each source.
  Tensors gradient(std::span<const Tensor> targets, std::span<const Tensor> cotangents,
                   std::span<const Source> sources, GradientOptions options = {});
  Tensor gradient(const Tensor& target, const Tensor& source);

  // d target / d source, of shape target.shape + source.shape, for each source.
  Tensors jacobian(const Tensor& target, std::span<const Source> sources,
                   GradientOptions options = {});

  // Whether a call with this input would be recorded.
  bool watches(const TensorImpl& x) const { return recording_ && node_of(x) != 0; }

  // Called for tensors that are created outside apply().
  void on_read(Variable& variable, TensorImpl& value);
  // Gives `to`, a tensor that no other code has yet, the node of `from`.
  void follow(const TensorImpl& from, TensorImpl& to);
  // Records a call that is not an op. The derivative of record_custom() may use inputs and outputs.
  void record_call(Inputs inputs, const Tensors& outputs,
                   const std::shared_ptr<const CustomVjp>& vjp, uint64_t kept = 0);
  void record_custom(Inputs inputs, const Tensors& outputs,
                     const std::shared_ptr<const CustomVjp>& vjp) {
    record_call(inputs, outputs, vjp, ~uint64_t{0});
  }

 private:
  using Node = uint32_t;  // 0 for no node.
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
    bool recompute = false;  // The decomposition is recomputed and differentiated.
    // Accumulates into the cotangents of the inputs op by op. The order is the same as if the ops
    // of the decomposition had been recorded.
    bool accumulates = false;
  };

  static Tensors apply_on(Interpreter& self, Scope& scope, const Call& call);
  static void destroy(const Interpreter& self);
  ~Tape();

  Tensors apply_outside(const Call& call);
  static Tensors donated(Inputs inputs, uint64_t saved);
  static void make_outputs_distinct(Inputs inputs, Tensors& outputs);
  Tensors linearize(const Call& call);
  Node node_of(const TensorImpl& x) const;
  bool watches_any(Inputs inputs) const;
  Node new_leaf();
  void bind(TensorImpl& x, Node node, bool fresh);
  Record& new_record(Inputs inputs, TypeSpan types, const Tensors& outputs, uint64_t kept_inputs,
                     uint64_t kept_outputs);
  void add_record(Inputs inputs, TypeSpan types, const Tensors& outputs, uint64_t kept_inputs,
                  uint64_t kept_outputs);
  void write_type(const TensorType& type);
  TensorType read_type(uint32_t& at) const;

  std::vector<Node> nodes_of(const Source& source) const;
  std::vector<bool> mark_dependents(const std::vector<std::vector<Node>>& sources) const;
  // Runs `ask`, which computes gradients. Consumes the tape afterwards, unless it is persistent.
  template <class Ask>
  Tensors ask(const Ask& ask);
  // `before`: cotangents already accumulated for the sources.
  Tensors compute_gradients(std::span<const Tensor> targets, std::span<const Tensor> cotangents,
                            std::span<const Source> sources, GradientOptions options, bool keep,
                            TensorSpan before = {});
  // Computes the Jacobian row by row: one row for each element of the target.
  Tensors compute_jacobian(const Tensor& target, std::span<const Source> sources,
                           GradientOptions options);
  bool may_recompute(const Call& call) const;
  // `before`: cotangents already accumulated for each node.
  Tensors derivative(const Record& record, const Args& args, const std::vector<Tensor>& before);
  // `before`: cotangents already accumulated for each input.
  Tensors differentiate_decomposition(const Record& record, const Args& args, TensorSpan before);
  void check_usable() const;
  void check_on_scope() const;
  void use_up();
  void forget();

  Ref<Scope> scope_;
  TapeOptions options_;
  uint64_t serial_;
  bool recording_ = true;
  bool is_consumed_ = false;
  int n_gradients_running_ = 0;  // Gradient computations in progress.

  std::vector<Record> records_;
  std::vector<uint32_t> node_record_;  // The record of node i + 1.
  std::vector<Node> input_nodes_;
  std::vector<int64_t> type_words_;
  std::vector<Tensor> saved_;
  // Nodes of tensors that another tape recorded first.
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
