// Stores the elements of a matrix product: either directly, or through an epilogue. An epilogue is
// a loop that is fused after the product and computes the stored values.

#pragma once

#include <optional>

#include "plugins/vulkan/kernels/loop_code.h"

namespace tenon_vulkan {

// Host side of an epilogue. The last input of its loop is the matrix product.
class Epilogue {
 public:
  explicit Epilogue(LoopPlan plan);

  const LoopPlan& plan() const { return plan_; }
  // Number of inputs of the loop, without the product.
  uint32_t n_inputs() const { return static_cast<uint32_t>(plan_.inputs.size() - 1); }
  uint32_t n_outputs() const { return static_cast<uint32_t>(plan_.outputs.size()); }

  // Pushes the parameters of the epilogue's shader code. The loop's inputs are the launch's inputs
  // from `first_input` on.
  void push(const tenon_launch& launch, uint32_t first_input, spirv::Words& words) const;
  // Maximum number of loop iterations that a shader needs to compute the offsets of an element's
  // operands.
  uint64_t iterations(const tenon_launch& launch, uint32_t first_input) const;
  // Whether the epilogue can be vectorised: every four neighbouring elements of a row of the result
  // are neighbours in every operand.
  bool can_vectorise(const tenon_launch& launch, uint32_t first_input) const;

 private:
  // Returns the axes of the strided inputs.
  Axes axes(const tenon_launch& launch, uint32_t first_input) const;

  const LoopPlan plan_;
  std::vector<uint32_t> strided_;  // Indices of strided inputs.
};

// Shader side: stores the result of a product, or the values that the epilogue computes from it.
class ResultCode {
 public:
  // Operands from `first` on are the loop's inputs and outputs; the parameters of Epilogue::push
  // begin at `parameter`. Without an epilogue, operand `first` is the result.
  ResultCode(spirv::Code& code, const Epilogue* epilogue, uint32_t first, tenon_dtype dtype,
             spirv::U32 parameter);

  // Stores the element with this linear index, in the order of the result's axes.
  void store(spirv::U32 index, const spirv::Element& x) const { store(index, {&x, 1}); }
  // Stores this element and the next three. Requires a vectorised result.
  void store_four(spirv::U32 index, std::span<const spirv::Element> elements) const {
    store(index, elements);
  }

 private:
  // Stores one element, or four contiguous elements, from this linear index on.
  void store(spirv::U32 index, std::span<const spirv::Element> elements) const;

  const Epilogue* epilogue_;
  std::optional<spirv::Elements> result_;
  std::optional<LoopOperands> operands_;
};

}  // namespace tenon_vulkan
