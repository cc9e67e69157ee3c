// Loops over elements: elementwise kernels, which are loops of one instruction, and those that the
// host makes of several.

#pragma once

#include <vector>

#include "plugins/sdk/loop.h"
#include "plugins/vulkan/encoder.h"

namespace tenon_vulkan {

// What a loop computes. Values are numbered: inputs first, then what instructions give.
struct LoopPlan {
  struct Input {
    tenon_dtype dtype;
    tenon_stride_class strides;
  };
  struct Instruction {
    uint32_t op;
    std::vector<uint32_t> inputs;
    tenon_dtype dtype;
  };
  std::vector<Input> inputs;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> outputs;  // Values.

  tenon_dtype dtype(uint32_t value) const {
    return value < inputs.size() ? inputs[value].dtype : instructions[value - inputs.size()].dtype;
  }
};

tenon_sdk::Prepared prepare_loop(tenon_device_p* device, const LoopPlan& plan);

// The slot's.
tenon_sdk::Prepared prepare_loop(const tenon_sdk::LoopRequest& request);

}  // namespace tenon_vulkan
