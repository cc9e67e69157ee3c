// The order of calls with effects: what is printed, what may stop a function, what the host does.
//
// Each takes a token and gives one on, so that a trace holds them as values that depend on each
// other, and nothing that looks at graphs has to know of effects. The token of a trace is a state
// (core/dispatch/cell.h), threaded through branches and loops as any other:
//
//   (x: f32[2], order: state token) {
//     printed = print(order, x, format="x is {}")
//     y, checked = check_numerics(printed, x)
//     return checked, y
//   }
//
// Calls that may stop a function stand behind what commits the states: then cells hold what was
// assigned before. What the host may have changed is read again behind it.

#pragma once

#include "core/dispatch/cell.h"
#include "core/ops/op.h"

namespace tenon {

// What makes calls wait for each other, and is nothing else.
TensorType token_type();
Tensor make_token(Device& device);

// What a call leaves for its way back that is no tensor (core/trace/host_call.cc).
TensorType record_type();
Tensor make_record(Device& device, Held content);
const Held& content_of_record(const TensorImpl& x);

// The state that a trace's token is. Calls hold it without keeping others from it.
class Order final : public Cell, public Pooled<Order> {
 public:
  explicit Order(Scope& scope);
};

// What a call means for the states.
enum class Effect : uint8_t {
  kShows,   // Nothing.
  kStops,   // Cells hold what was assigned before.
  kChanges  // And they may hold something else behind it.
};
// Of an op that takes a token.
Effect effect_of(const OpDef& op);

// What an op is in a trace that has effects; NULL for one that has none.
const OpDef* in_order(const OpDef& op);
// That of such an op, which outlives it.
OpDef ordered(const OpDef& op);

// Calls an op that takes a token first and gives one last: in code under trace behind what has
// effects there. Gives the other outputs.
Tensors apply_in_order(Scope& scope, const OpDef& op, AnyAttrs attrs, TensorSpan inputs);

// Writes what a state holds into its cell, and reads it again. Both are told which by attributes.
struct CellAttrs {
  Held cell;
  TENON_ATTRS(cell)
};
CellAttrs cell_attrs(Cell& cell);

namespace control {
const OpDef& commit();  // order, x -> order
const OpDef& reload();  // order, x -> what the cell holds, order
}  // namespace control

// The ops of effects by their names; NULL if there is none.
const OpDef* find_effect_op(std::string_view name);

}  // namespace tenon
