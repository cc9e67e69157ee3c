// The destination of a product's elements: the result itself, or an epilogue, which is a loop that
// is fused after the product and computes the stored values.

#pragma once

#include <optional>

#include "plugins/vulkan/kernels/loop_code.h"

namespace tenon_vulkan {

// A loop whose last input is the product that it is fused after.
class Epilogue {
 public:
  explicit Epilogue(LoopPlan plan);

  const LoopPlan& plan() const { return plan_; }
  // Without the product.
  uint32_t n_inputs() const { return static_cast<uint32_t>(plan_.inputs.size() - 1); }
  uint32_t n_outputs() const { return static_cast<uint32_t>(plan_.outputs.size()); }

  // Pushes the parameters of its shaders. The loop's inputs are the launch's from `first_input` on.
  void push(const tenon_launch& launch, uint32_t first_input, spirv::Words& words) const;
  // Maximum number of iterations in which a shader finds an element's operands.
  uint64_t iterations(const tenon_launch& launch, uint32_t first_input) const;
  // Whether it is vectorised: four neighbours in a row of the result are neighbours in every
  // operand.
  bool can_vectorise(const tenon_launch& launch, uint32_t first_input) const;

 private:
  Axes axes(const tenon_launch& launch, uint32_t first_input) const;

  const LoopPlan plan_;
  std::vector<uint32_t> strided_;  // Indices of strided inputs.
};

// The result of a product, in a shader.
class ResultCode {
 public:
  // Operands from `first` on are the loop's inputs and outputs; the parameters of Epilogue::push
  // begin at `parameter`. Without an epilogue, operand `first` is the result.
  ResultCode(spirv::Code& code, const Epilogue* epilogue, uint32_t first, tenon_dtype dtype,
             spirv::U32 parameter);

  // Stores the element with this linear index, in the order of the result's axes.
  void store(spirv::U32 index, const spirv::Element& x) const { store(index, {&x, 1}); }
  // Stores it and its three neighbours, if the result is vectorised.
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
