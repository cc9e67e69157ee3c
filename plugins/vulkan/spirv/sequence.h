// One shader of several, whose one group does what a group of each would do, one behind the other:
// what takes a driver longer to begin than a device to do is begun once.

#pragma once

#include <span>

#include "plugins/vulkan/spirv/code.h"

namespace tenon_vulkan::spirv {

// So many steps of one shader, each with parameters of its own.
struct Part {
  // Of Code::finish, of a shader of buffers whose invocations share no memory.
  std::span<const uint32_t> module;
  // Where the whole finds its operands. Several may be one.
  std::span<const uint32_t> bindings;
};

// Its parameters: for each part, how many steps there are up to its end; then for each step, at
// which word of the parameters' block its own begin. What a step writes, those behind it see.
Words sequence_of(std::span<const Part> parts, const Capabilities& capabilities,
                  uint32_t local_size);

}  // namespace tenon_vulkan::spirv
