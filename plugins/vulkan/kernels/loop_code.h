// The operands of a loop in a shader. Dense operands are loaded at an element's linear index,
// uniform operands once, and strided operands at the sum of coordinates times strides. Each launch
// merges axes where possible.

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/kernels/loop.h"
#include "plugins/vulkan/spirv/element.h"

namespace tenon_vulkan {

class LoopOperands {
 public:
  using Values = std::vector<spirv::Element>;

  // The first `n_inputs` inputs of the plan are operands from `first` on; its outputs follow. The
  // axes of strided inputs, if any, begin at parameter `axes`.
  LoopOperands(spirv::Code& code, const LoopPlan& plan, uint32_t first, uint32_t n_inputs,
               spirv::U32 axes);

  bool has_axes() const { return axes_.has_value(); }
  // Loads the inputs of the elements with these linear indices. `is_vectorised`: there are four
  // consecutive indices in one row, and the first is a multiple of four.
  std::vector<Values> load(std::span<const spirv::U32> numbers, bool is_vectorised) const;
  const spirv::Elements& output(size_t i) const { return memory_[n_inputs_ + i]; }

 private:
  const LoopPlan& plan_;
  const uint32_t n_inputs_;
  std::optional<AxesCode> axes_;
  std::vector<spirv::Elements> memory_;  // Inputs, then outputs.
  Values uniform_;                       // Values of uniform inputs.
};

}  // namespace tenon_vulkan
