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

// Returns a module that merges the shaders of the parts. Its parameters are, for each part, the
// number of steps of this and all earlier parts; and then, for each step, the word index of its
// parameters in the parameter buffer. The writes of a step are visible to later steps.
Words merge_shaders(std::span<const Part> parts, const Capabilities& capabilities,
                    uint32_t local_size);

}  // namespace tenon_vulkan::spirv
