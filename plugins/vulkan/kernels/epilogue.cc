#include "plugins/vulkan/kernels/epilogue.h"

#include <array>

namespace tenon_vulkan {

using spirv::Element;
using spirv::Elements;
using spirv::U32;

Epilogue::Epilogue(LoopPlan plan) : plan_(std::move(plan)) {
  for (uint32_t v = 0; v < n_inputs(); ++v) {
    if (plan_.inputs[v].strides == TENON_STRIDES_STRIDED) strided_.push_back(v);
  }
}

Axes Epilogue::axes(const tenon_launch& launch, uint32_t first_input) const {
  std::array<const int64_t*, Axes::kMaxOperands> strides;
  for (size_t k = 0; k < strided_.size(); ++k) {
    strides[k] = launch.inputs[first_input + strided_[k]].strides;
  }
  const tenon_view& out = launch.outputs[0];
  return Axes(out.rank, out.sizes, kAllAxes, {strides.data(), strided_.size()});
}

void Epilogue::push(const tenon_launch& launch, uint32_t first_input, spirv::Words& words) const {
  if (!strided_.empty()) axes(launch, first_input).push(words);
}

uint64_t Epilogue::iterations(const tenon_launch& launch, uint32_t first_input) const {
  return strided_.empty() ? 0 : axes(launch, first_input).iterations();
}

bool Epilogue::can_vectorise(const tenon_launch& launch, uint32_t first_input) const {
  for (uint32_t i = 0; i < plan_.n_operands(n_inputs()); ++i) {
    const Operand operand = operand_of(launch, first_input + i);
    if (plan_.is_dense(n_inputs(), i) &&
        !is_aligned_to_four(operand, plan_.operand_dtype(n_inputs(), i))) {
      return false;
    }
  }
  return strided_.empty() || axes(launch, first_input).last_size() % 4 == 0;
}

ResultCode::ResultCode(spirv::Code& code, const Epilogue* epilogue, uint32_t first,
                       tenon_dtype dtype, U32 parameter)
    : epilogue_(epilogue) {
  if (epilogue == nullptr) {
    result_.emplace(code, first, dtype);
  } else {
    operands_.emplace(code, epilogue->plan(), first, epilogue->n_inputs(), parameter);
  }
}

void ResultCode::store(U32 index, std::span<const Element> elements) const {
  const bool is_vectorised = elements.size() > 1;
  const auto store_to = [&](const Elements& memory, std::span<const Element> values) {
    is_vectorised ? memory.store_four(index, values) : memory.store(index, values[0]);
  };
  if (epilogue_ == nullptr) return store_to(*result_, elements);
  std::vector<U32> numbers;
  for (uint32_t lane = 0; lane < elements.size(); ++lane) numbers.push_back(index + lane);
  const LoopPlan& plan = epilogue_->plan();
  std::vector<LoopOperands::Values> inputs = operands_->load(numbers, is_vectorised);
  std::vector<LoopOperands::Values> results(plan.outputs.size());
  for (size_t lane = 0; lane < elements.size(); ++lane) {
    inputs[lane].push_back(elements[lane]);
    const LoopOperands::Values values = compute(plan, std::move(inputs[lane]));
    for (size_t i = 0; i < results.size(); ++i) results[i].push_back(values[plan.outputs[i]]);
  }
  for (size_t i = 0; i < results.size(); ++i) store_to(operands_->output(i), results[i]);
}

}  // namespace tenon_vulkan
