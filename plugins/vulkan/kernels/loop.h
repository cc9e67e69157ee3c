// Loops over elements: elementwise kernels, which are loops of one instruction, and those that the
// host makes of several.

#pragma once

#include <vector>

#include "plugins/sdk/loop_plan.h"
#include "plugins/vulkan/encoder.h"
#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan {

struct LoopPlan : tenon_sdk::LoopPlan {
  // As operands: the inputs, or the first of them, then the outputs.
  uint32_t n_operands(uint32_t n_inputs) const {
    return n_inputs + static_cast<uint32_t>(outputs.size());
  }
  bool is_dense(uint32_t n_inputs, uint32_t operand) const {
    return operand >= n_inputs || inputs[operand].strides == TENON_STRIDES_DENSE;
  }
  tenon_dtype operand_dtype(uint32_t n_inputs, uint32_t operand) const {
    return operand < n_inputs ? inputs[operand].dtype : dtype(outputs[operand - n_inputs]);
  }
  // Those that are read and written as vectors, where elements go by four.
  uint32_t vectors(uint32_t n_inputs) const;
};

// All values of one element, of those of its inputs.
std::vector<spirv::Element> compute(const LoopPlan& plan, std::vector<spirv::Element> inputs);

// How many iterations of its own an element takes at most, or what is computed once for its row.
uint64_t iterations_of(const LoopPlan& plan, bool per_row = false);
// The reason for which a shader cannot have it beside so many other operands, or none.
tenon_string refusal(tenon_device_p* device, const LoopPlan& plan, uint32_t n_others = 0);

tenon_sdk::Prepared prepare_loop(tenon_device_p* device, LoopPlan plan);
// One that goes over rows and that the device has room for.
tenon_sdk::Prepared prepare_row_loop(tenon_device_p* device, LoopPlan plan);

// A product whose last input is what the loop stands behind (epilogue.h).
tenon_sdk::Prepared prepare_with_epilogue(const tenon_sdk::Request& head, LoopPlan plan);

// The slot's.
tenon_sdk::Prepared prepare_loop(const tenon_sdk::LoopRequest& request);

}  // namespace tenon_vulkan
