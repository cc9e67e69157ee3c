// The ops that hold graphs, and how traced loops and branches become calls of them.
//
//   branch      which, operands... -> the outputs of the region that `which` selects
//   while_loop  go, carried..., constants... -> carried...
//               the region: carried..., constants... -> go, carried...
//   call        operands... -> the region's outputs, with the user's derivative
//   recompute   operands... -> the region's outputs, mostly recomputed in the backward pass
//
// Ops for sizes and states:
//
//   shape       -> the sizes in its attributes
//   assign      x, variable -> x
//   extent      n -> bool[n], where n becomes a symbol of the trace

#pragma once

#include <span>

#include "core/trace/control/control.h"

namespace tenon {

// Traces the body of the loop and adds a call of while_loop.
Tensors trace_loop(Scope& scope, const Loop& loop);

// Returns the number of entries for which the lists of a loop preallocate memory.
Size list_capacity(const Loop& loop);
// Traces the blocks and adds a call of branch, which selects a block by `which`.
Tensors trace_branch(Scope& scope, const Tensor& which, std::span<const Block> blocks);

// Traces `forward` and adds a call of the op call, whose derivative is `vjp`.
Tensors trace_call(Scope& scope, TensorSpan inputs, const Block& forward,
                   const std::shared_ptr<const CustomVjp>& vjp);

// Runs `code` and returns its outputs. Saves at most `memory_budget` bytes for the backward pass.
Tensors trace_recompute(Scope& scope, const Block& code, uint64_t memory_budget);

// Calls the op extent: returns a tensor of length `n`, where `n` is an i64 of rank 0. In a trace,
// the length is a new symbol.
Tensor extent(Scope& scope, const Tensor& n);
// Returns the data-dependent symbol that a call of extent defines; nullopt for other nodes.
std::optional<size_t> symbol_defined_by(const Graph& graph, const Node& node);

// Returns the value of a variable after the assignment of `x`. `variable` is its previous value.
Tensor value_after_assignment(Scope& scope, const Tensor& x, const Tensor& variable);

// Finds an op of this folder by name; NULL if there is none. No device has kernels for these ops.
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
