#include "plugins/vulkan/kernels/epilogue.h"

namespace tenon_vulkan {

using spirv::Element;

Epilogue::Epilogue(LoopPlan plan) : plan_(std::move(plan)) {
  for (uint32_t v = 0; v < n_inputs(); ++v) {
    if (plan_.inputs[v].strides == TENON_STRIDES_STRIDED) strided_.push_back(v);
  }
}

void Epilogue::push(const tenon_launch& launch, uint32_t first_input, spirv::Words& words) const {
  if (strided_.empty()) return;
  std::array<const int64_t*, Axes::kMostOperands> strides;
  for (size_t k = 0; k < strided_.size(); ++k) {
    strides[k] = launch.inputs[first_input + strided_[k]].strides;
  }
  const tenon_view& out = launch.outputs[0];
  Axes(out.rank, out.sizes, kAllAxes, {strides.data(), strided_.size()}).push(words);
}

ResultCode::ResultCode(spirv::Code& code, const Epilogue* epilogue, uint32_t first,
                       tenon_dtype dtype, spirv::U32 parameter)
    : epilogue_(epilogue) {
  if (epilogue == nullptr) {
    memory_.emplace_back(code, first, dtype);
    return;
  }
  const LoopPlan& plan = epilogue->plan();
  for (uint32_t v = 0; v < epilogue->n_inputs(); ++v) {
    const bool is_uniform = plan.inputs[v].strides == TENON_STRIDES_UNIFORM;
    memory_.emplace_back(code, first + v, plan.inputs[v].dtype);
    uniform_.push_back(is_uniform ? memory_[v].load(code.u32(0)) : Element());
  }
  for (uint32_t i = 0; i < epilogue->n_outputs(); ++i) {
    memory_.emplace_back(code, first + epilogue->n_inputs() + i, plan.dtype(plan.outputs[i]));
  }
  const auto n_strided = static_cast<uint32_t>(epilogue->strided().size());
  if (n_strided > 0) axes_.emplace(code, parameter, n_strided);
}

void ResultCode::store(spirv::U32 index, const Element& x) const {
  if (epilogue_ == nullptr) return memory_[0].store(index, x);
  const LoopPlan& plan = epilogue_->plan();
  const std::vector<spirv::U32> places = axes_ ? axes_->places(index) : std::vector<spirv::U32>();
  std::vector<Element> inputs;
  for (uint32_t v = 0, strided = 0; v < epilogue_->n_inputs(); ++v) {
    switch (plan.inputs[v].strides) {
      case TENON_STRIDES_UNIFORM:
        inputs.push_back(uniform_[v]);
        break;
      case TENON_STRIDES_STRIDED:
        inputs.push_back(memory_[v].load(places[strided++]));
        break;
      default:
        inputs.push_back(memory_[v].load(index));
    }
  }
  inputs.push_back(x);
  const std::vector<Element> values = compute(plan, std::move(inputs));
  for (uint32_t i = 0; i < epilogue_->n_outputs(); ++i) {
    memory_[epilogue_->n_inputs() + i].store(index, values[plan.outputs[i]]);
  }
}

}  // namespace tenon_vulkan
