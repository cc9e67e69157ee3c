// Elementwise loops: fused loops that the host requests, and elementwise kernels, which are loops
// of one instruction.

#pragma once

#include <vector>

#include "plugins/sdk/loop_plan.h"
#include "plugins/vulkan/encoder.h"
#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan {

struct LoopPlan : tenon_sdk::LoopPlan {
  // Returns the number of operands of a shader with the first `n_inputs` inputs and all outputs.
  uint32_t n_operands(uint32_t n_inputs) const {
    return n_inputs + static_cast<uint32_t>(outputs.size());
  }
  // Whether an operand is dense. Operands are the first `n_inputs` inputs, followed by the outputs.
  bool is_dense(uint32_t n_inputs, uint32_t operand) const {
    return operand >= n_inputs || inputs[operand].strides == TENON_STRIDES_DENSE;
  }
  tenon_dtype operand_dtype(uint32_t n_inputs, uint32_t operand) const {
    return operand < n_inputs ? inputs[operand].dtype : dtype(outputs[operand - n_inputs]);
  }
  // Returns the mask of the operands that a vectorised loop loads and stores as vectors.
  uint32_t vector_operand_mask(uint32_t n_inputs) const;
};

// Emits code for one element. Returns its inputs, followed by the results of all instructions.
std::vector<spirv::Element> compute(const LoopPlan& plan, std::vector<spirv::Element> inputs);

// Returns the maximum number of loop iterations of the instructions that run once per element or,
// if `per_row`, of those that run once per row.
uint64_t iterations_of(const LoopPlan& plan, bool per_row = false);
// Returns the reason why a shader with `n_others` additional operands cannot contain the loop;
// empty if it can.
tenon_string refusal_of_loop(tenon_device_p* device, const LoopPlan& plan, uint32_t n_others = 0);

// Prepares an elementwise loop, or a loop over rows if the plan has row axes.
tenon_sdk::Prepared prepare_loop(tenon_device_p* device, LoopPlan plan);
// Prepares a loop over rows. Requires that refusal_of_loop() returned an empty string.
tenon_sdk::Prepared prepare_row_loop(tenon_device_p* device, LoopPlan plan);

// Prepares a matrix product with the loop as its epilogue. The last input of the loop is the
// product (epilogue.h).
tenon_sdk::Prepared prepare_with_epilogue(const tenon_sdk::Request& anchor, LoopPlan plan);

// Prepares the loop that the host requests through the plugin's function prepare_loop, with or
// without an anchor.
tenon_sdk::Prepared prepare_loop(const tenon_sdk::LoopRequest& request);

}  // namespace tenon_vulkan
