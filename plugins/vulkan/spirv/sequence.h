// Merges several shaders into one. Its single workgroup runs the shaders one after another. This
// saves the start of each dispatch, which takes a driver longer than the work itself.

#pragma once

#include <span>

#include "plugins/vulkan/spirv/code.h"

namespace tenon_vulkan::spirv {

// A number of steps of one shader, each with its own parameters.
struct Part {
  // From Code::finish. The shader must use storage buffers only and no shared memory.
  std::span<const uint32_t> module;
  // Binding of each operand in the merged shader. Several may be the same.
  std::span<const uint32_t> bindings;
};

// Merges the parts. Parameters of the merged shader: for each part, the number of steps up to its
// end; then for each step, the word of the parameter buffer where its parameters begin. The writes
// of a step are visible to later steps.
Words sequence_of(std::span<const Part> parts, const Capabilities& capabilities,
                  uint32_t local_size);

}  // namespace tenon_vulkan::spirv
