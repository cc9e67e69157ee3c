// Loops as CUDA source. Elementwise kernels and reductions are loops of one instruction.

#pragma once

#include <string>
#include <vector>

#include "plugins/sdk/loop_plan.h"

namespace tenon_cuda {

struct LoopPlan : tenon_sdk::LoopPlan {
  uint32_t n_values() const { return static_cast<uint32_t>(inputs.size() + instructions.size()); }
  // The operands of a launch: inputs, then outputs.
  uint32_t n_operands() const { return static_cast<uint32_t>(inputs.size() + outputs.size()); }
  tenon_dtype operand_dtype(uint32_t operand) const {
    return is_input(operand) ? inputs[operand].dtype : dtype(outputs[operand - inputs.size()]);
  }
};

// The op's name in kernels.def.
std::string name_of_op(uint32_t op);
// "loop(add,mul)".
std::string name_of(const LoopPlan& plan);

// ---- source

// "op_add(v0, v1)": an instruction whose inputs have these names.
std::string call_source(const LoopPlan& plan, const LoopPlan::Instruction& instruction,
                        const std::vector<std::string>& inputs);
// A function compute() that takes the inputs, and references to the outputs, which it sets.
std::string compute_source(const LoopPlan& plan);
// The functions that its instructions call and that scalar.cuh lacks, after the text of that.
std::string prelude_source(const LoopPlan& plan);

// A loop over elements: loop_vector, where n_lanes(plan) elements lie together in memory as 16
// bytes or less, and loop_single.
std::string loop_source(const LoopPlan& plan);
uint32_t n_lanes(const LoopPlan& plan);

// A loop over rows: rows_by_thread and rows_by_block.
std::string row_loop_source(const LoopPlan& plan);

}  // namespace tenon_cuda
