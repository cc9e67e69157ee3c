// Merges several shaders into one. Its single workgroup runs the shaders one after another. This
// saves the time for starting each dispatch, which is longer than the work of a small one.

#pragma once

#include <span>

#include "plugins/vulkan/spirv/code.h"

namespace tenon_vulkan::spirv {

// One shader that runs for a number of steps. Each step has its own parameters.
struct Part {
  // The result of Code::finish(). The shader must bind storage buffers only and must not use shared
  // memory.
  std::span<const uint32_t> module;
  // The binding of each operand in the merged shader. Several operands may have the same binding.
  std::span<const uint32_t> bindings;
};

// Merges the parts and returns the module. Parameters of the merged shader: for each part, the
// total number of steps up to its end; then for each step, the word index of its parameters in the
// parameter buffer. The writes of a step are visible to later steps.
Words sequence_of(std::span<const Part> parts, const Capabilities& capabilities,
                  uint32_t local_size);

}  // namespace tenon_vulkan::spirv
