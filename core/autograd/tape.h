// The gradient tape: remembers the calls that derivatives need, and plays them back.
//
// A tape gives a node to each tensor that depends on something it watches, and writes a record for
// each call that made such a tensor. A record holds the nodes and types of its operands, and those
// values that the op's derivative says it needs; nothing else is kept alive.

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
  bool persistent = false;      // May give gradients more than once, and records while it does.
  bool watch_trainable = true;  // Watches trainable variables when they are read.
};

struct GradientOptions {
  bool unreached_as_null = false;  // A source that no target reaches gets NULL instead of zeros.
};

// What can be differentiated by: a tensor or a variable.
using Source = std::variant<Tensor, Ref<Variable>>;

class Tape final : public Interpreter, public Pooled<Tape> {
 public:
  // Starts recording: pushes itself onto the scope.
  Tape(Ref<Scope> scope, TapeOptions options);

  Scope& scope() const { return *scope_; }
  const TapeOptions& options() const { return options_; }

  // What depends on it from now on is recorded. Floating tensors only.
  void watch(const Source& source);
  // Every tensor that was asked for and every variable that was read or asked for, in that order.
  std::vector<Source> watched() const;

  bool is_recording() const { return recording_ && is_on_scope(); }
  bool is_used_up() const { return used_up_; }
  void pause() { recording_ = false; }
  void resume();
  // Forgets all records and what was watched. A used-up tape can be used again after it. Fails
  // while the tape gives gradients.
  void reset();
  // Takes the tape off its scope. What it recorded stays.
  void stop();

  // The gradients of the targets' sum, weighted by the cotangents, by each source.
  Tensors gradient(std::span<const Tensor> targets, std::span<const Tensor> cotangents,
                   std::span<const Source> sources, GradientOptions options = {});
  Tensor gradient(const Tensor& target, const Tensor& source);

  // d target / d source, of shape target.shape + source.shape, for each source.
  Tensors jacobian(const Tensor& target, std::span<const Source> sources,
                   GradientOptions options = {});

  // Whether a call with this input is recorded.
  bool watches(const TensorImpl& x) const { return recording_ && node_of(x) != 0; }

  // Called by those who make tensors outside of apply().
  void on_read(Variable& variable, TensorImpl& value);
  // Takes a tensor that nobody has seen for another.
  void follow(const TensorImpl& from, TensorImpl& to);
  // A call that is no op. The derivative of record_custom() may use inputs and outputs.
  void record_call(Inputs inputs, const Tensors& outputs,
                   const std::shared_ptr<const CustomVjp>& vjp, uint64_t kept = 0);
  void record_custom(Inputs inputs, const Tensors& outputs,
                     const std::shared_ptr<const CustomVjp>& vjp) {
    record_call(inputs, outputs, vjp, ~uint64_t{0});
  }

 private:
  using Node = uint32_t;  // 0 for none.
  class Args;

  // One remembered call. What varies in size lies in the vectors below.
  struct Record {
    const OpDef* op = nullptr;  // NULL for a leaf or a custom derivative.
    OwnedAttrs attrs;
    std::shared_ptr<const CustomVjp> custom;
    Node first_output = 0;
    uint32_t n_inputs = 0;
    uint32_t n_outputs = 0;
    uint32_t nodes_at = 0;  // In input_nodes_.
    uint32_t types_at = 0;  // In type_words_: the inputs, then the outputs.
    uint32_t saved_at = 0;  // In saved_: the kept inputs, then the kept outputs.
    uint64_t kept_inputs = 0;
    uint64_t kept_outputs = 0;
    bool recompute = false;  // The derivative is that of the decomposition, run again.
    // It adds what reaches the inputs to what reached them before, part by part, as it would have
    // been had the parts been recorded: in the same order.
    bool adds_up = false;
  };

  static Tensors apply_on(Interpreter& self, Scope& scope, const Call& call);
  static void destroy(const Interpreter& self);
  ~Tape();

  Tensors apply_below(const Call& call);
  static Tensors donated(Inputs inputs, uint64_t saved);
  static void tell_apart(Inputs inputs, Tensors& outputs);
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
  std::vector<bool> mark_reached(const std::vector<std::vector<Node>>& sources) const;
  // Runs what asks for gradients; unless the tape is persistent, it is used up behind it.
  template <class Ask>
  Tensors ask(const Ask& ask);
  // `before`: what has reached the sources already.
  Tensors play_back(std::span<const Tensor> targets, std::span<const Tensor> cotangents,
                    std::span<const Source> sources, GradientOptions options, bool keep,
                    TensorSpan before = {});
  // A row of the Jacobian for each element of the target.
  Tensors play_back_rows(const Tensor& target, std::span<const Source> sources,
                         GradientOptions options);
  bool takes_as_one(const Call& call) const;
  // `before`: what has reached each node.
  Tensors derivative(const Record& record, const Args& args, const std::vector<Tensor>& before);
  // `before`: what has reached each input.
  Tensors through_parts(const Record& record, const Args& args, TensorSpan before);
  void check_usable() const;
  void check_on_scope() const;
  void use_up();
  void forget();

  Ref<Scope> scope_;
  TapeOptions options_;
  uint64_t serial_;
  bool recording_ = true;
  bool used_up_ = false;
  int playing_ = 0;  // Calls under way that play it back.

  std::vector<Record> records_;
  std::vector<uint32_t> node_record_;  // Of node i + 1.
  std::vector<Node> input_nodes_;
  std::vector<int64_t> type_words_;
  std::vector<Tensor> saved_;
  std::unordered_map<uint64_t, Node> by_identity_;  // Of tensors that another tape knew first.
  std::vector<Tensor> watched_tensors_;
  struct WatchedVariable {
    Ref<Variable> variable;
    std::vector<Node> reads;
  };
  std::vector<WatchedVariable> watched_variables_;
  std::unordered_map<const Variable*, size_t> variable_index_;
};

// Walks the tapes of a scope that see what happens now, innermost first.
template <class Visit>
void each_tape(Scope& scope, Visit&& visit) {
  for (Interpreter* i = scope.innermost(); i; i = i->outer()) {
    if (i->kind() == Kind::kTape) visit(static_cast<Tape&>(*i));
  }
}

}  // namespace tenon
