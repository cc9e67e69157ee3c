// The interpreter that adds calls to a graph instead of computing them.
//
// A traced tensor has a type, possibly with symbolic sizes, and refers to a value of the graph. It
// has no memory. Reading its value fails with an error that names alternatives.
//
// A cell that the code reads becomes a state: its value enters as an input, stores replace it, and
// the final value is an output. The order token of calls with effects (core/trace/graph/order.h) is
// a state too; the outermost trace owns one for all nested traces.

#pragma once

#include <unordered_map>

#include "core/dispatch/cell.h"
#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"
#include "core/trace/graph/graph.h"
#include "core/trace/graph/order.h"

namespace tenon {

// Formats a traced tensor without adding guards: x : f32[?,4].
std::string traced_text(const TensorImpl& x);

// Returns the size of an axis. A symbolic size of a traced tensor is fixed to a number by a guard,
// or the read fails (SizeTable::read_on_host).
int64_t read_size_of(const TensorImpl& x, size_t axis);
// Returns all sizes like read_size_of(). The array lives as long as the tensor.
const int64_t* read_shape(const TensorImpl& x);
// Like read_shape(), for callers that cannot handle errors. If a size cannot be read, returns its
// value in the traced call, or 0. Tracing then fails when the traced code has returned.
const int64_t* shape_or_recorded_failure(const TensorImpl& x);
// Like shape_or_recorded_failure(), for strides.
const int64_t* strides_or_recorded_failure(const TensorImpl& x);

// Returns the current value of a cell that is a state of a graph, for a call of this graph. Tapes
// record the read if the cell is a variable.
Tensor read_state(Scope& scope, Cell& cell);

class Tracer final : public Interpreter, public TracedCells {
 public:
  // Starts tracing into `graph`. Until this object is destroyed, calls in the scope are added to
  // the graph, and this thread uses the graph's size table. In a scope that is already tracing, the
  // trace is nested. Messages contain the name of the function or, if it is empty, that of the
  // outer trace.
  Tracer(Scope& scope, Graph& graph, std::string_view function = {});
  // Suppresses warnings about unrolled loops, for code that was traced before.
  void disable_warnings() { is_silent_ = true; }

  // Adds an input and returns it as a traced tensor.
  Tensor input(const TensorType& type, InputRole role, std::string name, Device& device);
  // Returns the graph value of a tensor. An inline scalar becomes a constant. A tensor from outside
  // this trace becomes a capture; it may belong to an enclosing trace. Fails for a tensor of an
  // unrelated trace.
  Value value_of(TensorImpl& x);
  // Returns the tensor's value in this graph; empty if it belongs to another trace or to none.
  Value find_value(const TensorImpl& x) const;
  // The enclosing trace; NULL if there is none.
  const Tracer* outer_trace() const { return outer_trace_; }
  // Ends tracing. Sets the graph's outputs: the final values of the states, followed by `outputs`.
  void finish(std::span<const Tensor> outputs);

  Graph& graph() const { return graph_; }
  // The tensors and cells from outside that the traced code used. The graph takes them as inputs,
  // in this order.
  const std::vector<Tensor>& captures() const { return captures_; }
  const std::vector<Ref<Cell>>& states() const { return states_; }
  // Cells that the code created, with their initial values if these are values of the trace.
  struct Made {
    Ref<Cell> cell;
    Value initial;

    // False for a temporary generator, which the code created and released again.
    bool is_permanent() const { return cell->kind() == Kind::kVariable || cell->owners() > 1; }
  };
  const std::vector<Made>& made() const { return made_; }
  // Values stored in cells, in program order.
  struct Stored {
    const Cell* cell;
    Value value;
  };
  const std::vector<Stored>& stored() const { return stored_; }

  // Adds a call that takes and returns the order token; returns the other outputs.
  Tensors apply_in_order(Scope& scope, const OpDef& op, AnyAttrs attrs, TensorSpan inputs);
  // The state with the order token of this trace and of all enclosing ones.
  Cell& order();
  // Adds calls that write all pending stores to the cells at this point.
  void commit();
  // Marks that cells may have changed at this point.
  void reload();
  // Whether the traced code contains calls before which states are committed.
  bool commits() const { return commits_; }
  // Whether the traced code contains calls after which states are reloaded.
  bool reloads() const { return reloads_; }

  // Implement TracedCells.
  Tensor load(const Cell& cell) override;
  void store(Cell& cell, const Tensor& value) override;
  void add(Cell& cell) override;
  Tensor alias_in_trace(const Tensor& x) override;
  void require_same_trace(const TensorImpl& x) const override;

 private:
  // Adds a call to the graph.
  static Tensors apply_on(Interpreter& self, Scope& scope, const Call& call);
  // Returns a traced tensor that refers to a value of the graph.
  Tensor tensor_of(Value value, Device& device);
  static constexpr size_t kNoState = ~size_t{0};
  // The current value of a state, or of a cell that the code created.
  struct HostObject {
    Tensor value;
    size_t state = kNoState;   // Index among the states, if the cell is a state.
    bool is_committed = true;  // Whether the cell holds the value too.
    // n_reloads_ when the cell was read. If n_reloads_ has grown since then, `value` is outdated.
    uint64_t reloads = 0;
  };
  // Returns the current value of a cell. Makes the cell a state if it is none yet.
  HostObject& current_value_of(const Cell& cell);
  // Whether the cell may have changed since `held` was read.
  bool is_stale(const Cell& cell, const HostObject& held) const {
    return held.state != kNoState && held.reloads != n_reloads_ && cell.kind() != Kind::kOrder;
  }
  // Adds a call that reads the cell again.
  void reload_state(Cell& cell, HostObject& held);
  // Whether this trace is nested in the trace with serial number `trace`.
  bool is_nested_in(uint64_t trace) const;
  // Warns if an op is called very often at one source line.
  void count_call(Scope& scope, const OpDef& op);

  Graph& graph_;
  Tracer* outer_trace_;  // The enclosing trace.
  Scope::Traced traced_;
  SizeTable::Use use_;
  uint64_t serial_;
  std::shared_ptr<const std::string> function_;  // NULL: unnamed.
  bool is_silent_ = false;
  std::vector<Tensor> captures_;
  std::unordered_map<uint64_t, Value> captured_;  // Keyed by the identity of the tensor.
  std::vector<Ref<Cell>> states_;
  std::vector<Made> made_;
  std::vector<Stored> stored_;
  std::unordered_map<std::string, size_t> calls_;  // Number of calls, keyed by source line and op.
  std::unordered_map<const Cell*, HostObject> current_values_;
  Ref<Order> order_;  // Set only in an outermost trace.
  bool commits_ = false, reloads_ = false;
  std::vector<size_t> uncommitted_;  // States with stores that are not committed yet.
  uint64_t n_reloads_ = 0;
};

}  // namespace tenon
