// What a loop computes: values, numbered, inputs first, then what instructions give. Elementwise
// kernels and reductions are loops of one instruction.

#pragma once

#include <string>
#include <vector>

#include "plugins/sdk/dtype.h"

namespace tenon_cuda {

struct LoopPlan {
  struct Input {
    tenon_dtype dtype;
    tenon_stride_class strides;
    bool is_per_row = false;
  };
  struct Instruction {
    uint32_t op;
    std::vector<uint32_t> inputs;
    tenon_dtype dtype;
    bool is_per_row = false, reduces = false;  // See TENON_LOOP_PER_ROW and TENON_LOOP_REDUCES.
  };
  std::vector<Input> inputs;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> outputs;  // Values.
  uint32_t row_axes = 0;

  bool is_input(uint32_t value) const { return value < inputs.size(); }
  const Instruction& producer(uint32_t value) const { return instructions[value - inputs.size()]; }
  tenon_dtype dtype(uint32_t value) const {
    return is_input(value) ? inputs[value].dtype : producer(value).dtype;
  }
  bool is_per_row(uint32_t value) const {
    return is_input(value) ? inputs[value].is_per_row : producer(value).is_per_row;
  }
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
// The functions that its instructions call and that scalar.cuh lacks, after the text of that.
std::string prelude_source(const LoopPlan& plan);

// A loop over elements: loop_vector, where n_lanes(plan) elements lie together in memory as 16
// bytes or less, and loop_single.
std::string loop_source(const LoopPlan& plan);
uint32_t n_lanes(const LoopPlan& plan);

// A loop over rows: rows_by_thread and rows_by_block.
std::string row_loop_source(const LoopPlan& plan);

}  // namespace tenon_cuda
