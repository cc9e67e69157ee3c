// The ops that hold graphs, and how loops and branches of code under trace become calls of them.
//
//   branch      which, operands... -> what the region gives that `which` chooses
//   while_loop  go, carried..., constants... -> carried...
//               the region: carried..., constants... -> go, carried...
//   call        operands... -> what the region gives, differentiated as the user says
//   recompute   operands... -> what the region gives, most of it computed again on the way back
//
// And those of sizes and states:
//
//   shape       -> the sizes among its attributes
//   assign      x, variable -> x
//   extent      n -> bool[n], where n becomes a size of the trace

#pragma once

#include <span>

#include "core/trace/control.h"

namespace tenon {

Tensors trace_loop(Scope& scope, const Loop& loop);

// For how many entries the lists of a loop have memory from the start.
Size list_capacity(const Loop& loop);
Tensors trace_branch(Scope& scope, const Tensor& which, std::span<const Block> blocks);

Tensors trace_call(Scope& scope, TensorSpan inputs, const Block& forward,
                   const std::shared_ptr<const CustomVjp>& vjp);

// What code gives of what it finds around it. Its way back keeps so many bytes of it at most.
Tensors trace_recompute(Scope& scope, const Block& code, uint64_t memory_budget);

// Something that is as long as a number says, i64[]; in code under trace that is a new size.
Tensor extent(Scope& scope, const Tensor& n);
// The symbol that a call of extent gives birth to; nothing of other nodes.
std::optional<size_t> size_born_at(const Graph& graph, const Node& node);

// What a variable holds that is assigned x and held `variable` before.
Tensor assigned(Scope& scope, const Tensor& x, const Tensor& variable);

// The ops of this folder by their names, which no device has; NULL if there is none.
const OpDef* find_control_op(std::string_view name);

namespace control {
const OpDef& while_loop();
const OpDef& branch();
const OpDef& call();
const OpDef& recompute();
const OpDef& shape();
const OpDef& assign();
const OpDef& extent();
}  // namespace control

}  // namespace tenon
