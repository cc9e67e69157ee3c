// The order of calls with effects: printing, checks that may stop a function, and host calls.
//
// Each such call takes a token and returns the next one. Their order is thus a data dependency in
// the graph, and passes need no special rules for effects. The token of a trace is a state
// (core/dispatch/cell.h), threaded through branches and loops like any other:
//
//   (x: f32[2], order: state token) {
//     printed = print(order, x, format="x is {}")
//     y, checked = check_numerics(printed, x)
//     return checked, y
//   }
//
// Before a call that may stop a function, the states are committed, so that cells hold what was
// assigned before it. A host call may change cells, so the states are read again after it.

#pragma once

#include "core/dispatch/cell.h"
#include "core/ops/definition/op.h"

namespace tenon {

// A token has no data. It only orders calls.
TensorType token_type();
Tensor make_token(Device& device);

// A record is a tensor without data that carries a host object through a graph. A host call returns
// its tapes in a record, which is a residual (core/trace/host_call.cc).
TensorType record_type();
// Creates a record that carries `content`.
Tensor make_record(Device& device, HostObject content);
// Returns the host object that a record carries. Throws if `x` is not a record or, during tracing,
// has no value yet.
const HostObject& content_of_record(const TensorImpl& x);

// The state that holds a trace's token. Calls do not lock it.
class Order final : public Cell, public Pooled<Order> {
 public:
  explicit Order(Scope& scope);
};

// How a call interacts with the states.
enum class Effect : uint8_t {
  kShows,          // The call neither reads nor changes states.
  kMayStop,        // The call may stop the function, so cells must hold earlier assignments.
  kMayChangeCells  // As kMayStop, and cells may have changed after it.
};
// Returns the effect of an op that takes a token.
Effect effect_of(const OpDef& op);

// Returns the variant of `op` that takes and returns a token, which traces with effects use. NULL
// if the op has no effects.
const OpDef* in_order(const OpDef& op);
// Creates the variant of `op` that takes and returns a token. `op` must outlive it.
OpDef make_ordered_op(const OpDef& op);

// Calls an op whose first input and last output are tokens. In a trace, it runs after all earlier
// calls with effects. Returns the other outputs.
Tensors apply_in_order(Scope& scope, const OpDef& op, AnyAttrs attrs, TensorSpan inputs);

// commit() writes a state's value into its cell and reload() reads the cell again. The attribute
// names the cell.
struct CellAttrs {
  HostObject cell;
  TENON_ATTRS(cell)
};
CellAttrs cell_attrs(Cell& cell);

namespace control {
const OpDef& commit();  // order, x -> order
const OpDef& reload();  // order, x -> value of the cell, order
}  // namespace control

// Finds an op with effects by name; NULL if there is none.
const OpDef* find_effect_op(std::string_view name);

}  // namespace tenon
