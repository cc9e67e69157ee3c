// Where a product's elements go: to its result, or through a loop that stands behind it, its
// epilogue, which makes what is stored of each.

#pragma once

#include <optional>

#include "plugins/vulkan/kernels/loop_code.h"

namespace tenon_vulkan {

// A loop whose last input is what it stands behind.
class Epilogue {
 public:
  explicit Epilogue(LoopPlan plan);

  const LoopPlan& plan() const { return plan_; }
  // Without the one that it stands behind.
  uint32_t n_inputs() const { return static_cast<uint32_t>(plan_.inputs.size() - 1); }
  uint32_t n_outputs() const { return static_cast<uint32_t>(plan_.outputs.size()); }

  // What its shaders need to know of a launch, whose inputs from a number on are the loop's.
  void push(const tenon_launch& launch, uint32_t first_input, spirv::Words& words) const;
  // How many iterations a shader takes at most to find an element's operands.
  uint64_t iterations(const tenon_launch& launch, uint32_t first_input) const;
  // Whether four neighbours of a row of the result are so in every operand.
  bool goes_by_four(const tenon_launch& launch, uint32_t first_input) const;

 private:
  Axes axes(const tenon_launch& launch, uint32_t first_input) const;

  const LoopPlan plan_;
  std::vector<uint32_t> strided_;  // Inputs.
};

// In a shader.
class ResultCode {
 public:
  // Operands from `first` on are the loop's inputs and outputs, what Epilogue pushed stands at a
  // parameter. Without an epilogue the operand is the result.
  ResultCode(spirv::Code& code, const Epilogue* epilogue, uint32_t first, tenon_dtype dtype,
             spirv::U32 parameter);

  // The element of that number, in the order of the result's axes.
  void store(spirv::U32 index, const spirv::Element& x) const { store(index, {&x, 1}); }
  // It and its three neighbours, where these go by four.
  void store_four(spirv::U32 index, std::span<const spirv::Element> elements) const {
    store(index, elements);
  }

 private:
  void store(spirv::U32 index, std::span<const spirv::Element> elements) const;

  const Epilogue* epilogue_;
  std::optional<spirv::Elements> result_;
  std::optional<LoopOperands> operands_;
};

}  // namespace tenon_vulkan
