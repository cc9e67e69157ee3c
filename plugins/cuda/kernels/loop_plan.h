// Generates CUDA source for loops. Elementwise kernels and reductions are loops of one instruction.

#pragma once

#include <string>
#include <vector>

#include "plugins/sdk/loop_plan.h"

namespace tenon_cuda {

struct LoopPlan : tenon_sdk::LoopPlan {
  // Returns the number of values: inputs and results of instructions.
  uint32_t n_values() const { return static_cast<uint32_t>(inputs.size() + instructions.size()); }
  // Returns the number of operands of a launch: inputs and outputs.
  uint32_t n_operands() const { return static_cast<uint32_t>(inputs.size() + outputs.size()); }
  tenon_dtype operand_dtype(uint32_t operand) const {
    return is_input(operand) ? inputs[operand].dtype : dtype(outputs[operand - inputs.size()]);
  }
};

// Returns the op's name in kernels.def.
std::string op_name(uint32_t op);
// Returns the name of a loop, such as "loop(add,mul)".
std::string loop_name(const LoopPlan& plan);

// ---- source

// Returns the source of the call for an instruction, such as "op_add(v0, v1)", given the names of
// its inputs.
std::string call_source(const LoopPlan& plan, const LoopPlan::Instruction& instruction,
                        const std::vector<std::string>& inputs);
// Returns the source of a function compute(), whose parameters are the inputs and references to the
// outputs.
std::string compute_source(const LoopPlan& plan);
// Returns the source of all functions that the instructions call: scalar.cuh, followed by those
// that scalar.cuh lacks.
std::string prelude_source(const LoopPlan& plan);

// Returns the kernels of a loop over elements: loop_vector accesses vector_width(plan) contiguous
// elements, at most 16 bytes, at once; loop_single accesses one element.
std::string loop_source(const LoopPlan& plan);
// Returns the number of elements that loop_vector accesses at once in each operand.
uint32_t vector_width(const LoopPlan& plan);

// Returns the kernels of a loop over rows: rows_by_thread and rows_by_block.
std::string row_loop_source(const LoopPlan& plan);

}  // namespace tenon_cuda
