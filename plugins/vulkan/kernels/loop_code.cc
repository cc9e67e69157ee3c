#include "plugins/vulkan/kernels/loop_code.h"

namespace tenon_vulkan {

using spirv::Code;
using spirv::Element;
using spirv::U32;

LoopOperands::LoopOperands(Code& code, const LoopPlan& plan, uint32_t first, uint32_t n_inputs,
                           U32 axes)
    : plan_(plan), n_inputs_(n_inputs) {
  uint32_t n_strided = 0;
  for (uint32_t v = 0; v < n_inputs; ++v) {
    const LoopPlan::Input& input = plan.inputs[v];
    memory_.emplace_back(code, first + v, input.dtype);
    const bool is_uniform = input.strides == TENON_STRIDES_UNIFORM;
    uniform_.push_back(is_uniform ? memory_[v].load(code.u32(0)) : Element());
    if (input.strides == TENON_STRIDES_STRIDED) ++n_strided;
  }
  for (uint32_t i = 0; i < plan.outputs.size(); ++i) {
    memory_.emplace_back(code, first + n_inputs + i, plan.dtype(plan.outputs[i]));
  }
  if (n_strided > 0) axes_.emplace(code, axes, n_strided);
}

std::vector<LoopOperands::Values> LoopOperands::load(std::span<const U32> numbers,
                                                     bool is_vectorised) const {
  std::vector<std::vector<U32>> places;
  for (size_t lane = 0; axes_ && lane < numbers.size(); ++lane) {
    if (!is_vectorised || lane == 0) {
      places.push_back(axes_->operand_offsets(numbers[lane]));
      continue;
    }
    std::vector<U32> next = places.back();
    for (size_t k = 0; k < next.size(); ++k) next[k] = next[k] + axes_->last_strides()[k];
    places.push_back(std::move(next));
  }
  std::vector<Values> inputs(numbers.size());
  size_t n_strided = 0;
  for (uint32_t v = 0; v < n_inputs_; ++v) {
    const auto strides = plan_.inputs[v].strides;
    const bool is_strided = strides == TENON_STRIDES_STRIDED;
    const bool is_dense = strides == TENON_STRIDES_DENSE;
    const Values four = is_dense && is_vectorised ? memory_[v].load_four(numbers[0]) : Values();
    for (size_t lane = 0; lane < numbers.size(); ++lane) {
      inputs[lane].push_back(is_strided      ? memory_[v].load(places[lane][n_strided])
                             : !is_dense     ? uniform_[v]
                             : is_vectorised ? four[lane]
                                             : memory_[v].load(numbers[lane]));
    }
    if (is_strided) ++n_strided;
  }
  return inputs;
}

}  // namespace tenon_vulkan
