// The operands of a loop, in a shader: dense ones are read at an element's number, uniform ones
// once, strided ones at the sum of coordinates times strides, whose axes are merged at the launch
// as far as they go.

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

  // The first `n_inputs` of the plan are operands from `first` on; its outputs are behind them.
  // The axes of those that are strided stand at a parameter, if there are any.
  LoopOperands(spirv::Code& code, const LoopPlan& plan, uint32_t first, uint32_t n_inputs,
               spirv::U32 axes);

  bool has_axes() const { return axes_.has_value(); }
  // The inputs of each of the elements of these numbers. `by_four`: four neighbours in a row of all
  // axes, whose first is at a multiple of four.
  std::vector<Values> load(std::span<const spirv::U32> numbers, bool by_four) const;
  const spirv::Elements& output(size_t i) const { return memory_[n_inputs_ + i]; }

 private:
  const LoopPlan& plan_;
  const uint32_t n_inputs_;
  std::optional<AxesCode> axes_;
  std::vector<spirv::Elements> memory_;  // Of inputs, then outputs.
  Values uniform_;                       // Of inputs that are.
};

}  // namespace tenon_vulkan
