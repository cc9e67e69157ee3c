// An owned copy of a loop request, for plugins that compile loops. Values have consecutive indices:
// the inputs, then the results of the instructions.

#pragma once

#include <vector>

#include "plugins/sdk/loop.h"

namespace tenon_sdk {

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
  std::vector<uint32_t> outputs;  // Indices of values.
  uint32_t row_axes = 0;

  bool is_input(uint32_t value) const { return value < inputs.size(); }
  // Returns the instruction whose result is this value.
  const Instruction& producer(uint32_t value) const { return instructions[value - inputs.size()]; }
  tenon_dtype dtype(uint32_t value) const {
    return is_input(value) ? inputs[value].dtype : producer(value).dtype;
  }
  // Whether a value has one element per row of the loop.
  bool is_per_row(uint32_t value) const {
    return is_input(value) ? inputs[value].is_per_row : producer(value).is_per_row;
  }
};

// Copies a request, without the anchor kernel if there is one.
inline LoopPlan loop_plan(const LoopRequest& request) {
  LoopPlan plan;
  plan.row_axes = request.row_axes();
  for (size_t i = 0; i < request.n_inputs(); ++i) {
    plan.inputs.push_back(
        {request.input(i).dtype, request.input(i).strides, request.is_per_row(i)});
  }
  for (size_t i = 0; i < request.n_instructions(); ++i) {
    const tenon_loop_instruction& given = request.instruction(i);
    plan.instructions.push_back({given.line->op,
                                 {given.inputs, given.inputs + given.n_inputs},
                                 given.dtype,
                                 (given.flags & TENON_LOOP_PER_ROW) != 0,
                                 (given.flags & TENON_LOOP_REDUCES) != 0});
  }
  for (size_t i = 0; i < request.n_outputs(); ++i) plan.outputs.push_back(request.output(i));
  return plan;
}

}  // namespace tenon_sdk
