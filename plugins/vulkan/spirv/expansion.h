// The SDK's expansions of transcendental functions, as shader instructions.

#pragma once

#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan::spirv {

// Whether an op has an expansion.
bool has_expansion(uint32_t op);

// Emits the expansion of an op. Half types are computed in float32 and rounded once.
Element emit_expansion(uint32_t op, std::span<const Element> inputs);

}  // namespace tenon_vulkan::spirv
