// The interpreter that computes nothing and writes down what it is asked to compute.
//
// A tensor of a trace has a type, which may have sizes that are formulas, and the place in the
// graph that it stands for; it has no memory. Whoever needs its value fails, and says what to use
// instead.
//
// A cell that the code reads is a state: its value comes in as an input, what the code stores
// replaces that, and what it is in the end goes out. So is what orders calls with effects
// (core/trace/order.h): the outermost trace has one for all code inside of it.

#pragma once

#include <unordered_map>

#include "core/dispatch/cell.h"
#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"
#include "core/trace/graph.h"
#include "core/trace/order.h"

namespace tenon {

// A tensor of a trace as text, which decides nothing about its sizes: x : f32[?,4].
std::string traced_text(const TensorImpl& x);

// Sizes of a tensor that the host reads. Of a tensor of a trace, a size that is a formula becomes
// a number by a guard, or the read fails (SizeTable::read_on_host). What is read whole lives as
// long as the tensor.
int64_t read_size_of(const TensorImpl& x, size_t axis);
const int64_t* read_shape(const TensorImpl& x);
// For readers that cannot fail: in place of a size that cannot be read, the one in the call that is
// traced or 0, and the trace fails when its code has returned.
const int64_t* shape_or_recorded_failure(const TensorImpl& x);
const int64_t* strides_or_recorded_failure(const TensorImpl& x);

// What a cell holds, for a graph whose state it is: tapes see a variable read.
Tensor read_state(Scope& scope, Cell& cell);

class Tracer final : public Interpreter, public TracedCells {
 public:
  // Starts to write into `graph`: what the scope computes until the end of the tracer's life, and
  // sizes of this thread are the graph's. In a scope under trace, its code is inside of that one's.
  // Messages name the function; without one, that of the trace around this one.
  Tracer(Scope& scope, Graph& graph, std::string_view function = {});
  // Says nothing of loops that are written out: the code has been traced before.
  void be_silent() { is_silent_ = true; }

  // A new input, as the tensor that the traced code sees.
  Tensor input(const TensorType& type, InputRole role, std::string name, Device& device);
  // What a tensor is in the graph: its place there, a constant, or a capture, which may be of a
  // trace around this one. Fails for one of another trace.
  Value value_of(TensorImpl& x);
  // Its place in this graph; none if it is of another trace.
  Value place_of(const TensorImpl& x) const;
  // The trace that this one's code is inside of; NULL if there is none.
  const Tracer* around() const { return outer_trace_; }
  // Makes these the outputs, behind what the states hold now.
  void finish(std::span<const Tensor> outputs);

  Graph& graph() const { return graph_; }
  // The tensors and cells that became inputs because traced code used them, in the order of these
  // inputs.
  const std::vector<Tensor>& captures() const { return captures_; }
  const std::vector<Ref<Cell>>& states() const { return states_; }
  // The cells that traced code made, with what it made them of, if that is a value of the trace.
  struct Made {
    Ref<Cell> cell;
    Value initial;

    // A generator that is gone again was only a way to draw.
    bool stays() const { return cell->kind() == Kind::kVariable || cell->owners() > 1; }
  };
  const std::vector<Made>& made() const { return made_; }
  // What was stored in cells, in that order.
  struct Stored {
    const Cell* cell;
    Value value;
  };
  const std::vector<Stored>& stored() const { return stored_; }

  // Writes a call that takes the order and gives it on; gives the other outputs.
  Tensors apply_in_order(Scope& scope, const OpDef& op, AnyAttrs attrs, TensorSpan inputs);
  // The state that orders the calls of this trace and of all that it is inside of.
  Cell& order();
  // Has the cells hold what the code has stored so far when it comes here.
  void commit();
  // What the cells hold may be something else from here on.
  void reload();
  // Whether the code has calls before which states are committed, behind which they are read again.
  bool commits() const { return commits_; }
  bool reloads() const { return reloads_; }

  // TracedCells
  Tensor load(const Cell& cell) override;
  void store(Cell& cell, const Tensor& value) override;
  void add(Cell& cell) override;
  Tensor inside(const Tensor& x) override;
  void require_reach(const TensorImpl& x) const override;

 private:
  static Tensors apply_on(Interpreter& self, Scope& scope, const Call& call);
  Tensor tensor_of(Value value, Device& device);
  static constexpr size_t kNoState = ~size_t{0};
  // What a state, or a cell that the code made, holds.
  struct Held {
    Tensor value;
    size_t state = kNoState;   // Its index among the states, if it is one.
    bool is_committed = true;  // The cell holds it too.
    uint64_t reloads = 0;      // How many reloads it has seen: after another, the cell may hold
                               // something else.
  };
  Held& now(const Cell& cell);
  bool is_stale(const Cell& cell, const Held& held) const {
    return held.state != kNoState && held.reloads != n_reloads_ && cell.kind() != Kind::kOrder;
  }
  void read_again(Cell& cell, Held& held);
  bool is_inside(uint64_t trace) const;
  void count_call(Scope& scope, const OpDef& op);

  Graph& graph_;
  Tracer* outer_trace_;  // Whose code this one's is inside of.
  Scope::Traced traced_;
  SizeTable::Use use_;
  uint64_t serial_;
  std::shared_ptr<const std::string> function_;  // NULL: nobody named the code.
  bool is_silent_ = false;
  std::vector<Tensor> captures_;
  std::unordered_map<uint64_t, Value> captured_;  // By identity.
  std::vector<Ref<Cell>> states_;
  std::vector<Made> made_;
  std::vector<Stored> stored_;
  std::unordered_map<std::string, size_t> calls_;  // By line and op.
  std::unordered_map<const Cell*, Held> now_;
  Ref<Order> order_;  // Of an outermost trace.
  bool commits_ = false, reloads_ = false;
  std::vector<size_t> uncommitted_;  // States whose cells do not hold what the code stored last.
  uint64_t n_reloads_ = 0;
};

}  // namespace tenon
