// A shader and its VkPipeline. The SPIR-V is available immediately; the VkPipeline is available
// after a thread has created it.

#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "plugins/vulkan/driver/driver.h"

namespace tenon_vulkan {

// The number and kinds of a shader's operands.
struct OperandKinds {
  uint32_t n_operands = 0;
  // Bit i is set if operand i (of the first 32) is bound as a texel buffer; the others are storage
  // buffers.
  uint32_t texels = 0;
  bool operator==(const OperandKinds&) const = default;
};

// The descriptor type of a binding: 0 is the parameters, 1 + i is operand i.
VkDescriptorType descriptor_type(const OperandKinds& kinds, uint32_t binding);

// The descriptor set and pipeline layouts for shaders with these operand kinds.
struct Layout {
  OperandKinds kinds;
  uint32_t number = 0;  // Unique among the device's layouts.
  VkDescriptorSetLayout set = VK_NULL_HANDLE;
  VkPipelineLayout pipeline = VK_NULL_HANDLE;
};

class Pipeline : public std::enable_shared_from_this<Pipeline> {
 public:
  Pipeline(const Driver& driver, std::span<const uint32_t> spirv, const Layout& layout)
      : driver_(driver), spirv_(spirv.begin(), spirv.end()), layout_(layout) {}
  ~Pipeline() {
    if (is_made()) driver_.vk().DestroyPipeline(driver_.device(), handle_, nullptr);
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  std::span<const uint32_t> spirv() const { return spirv_; }
  const Layout& layout() const { return layout_; }

  // Whether the VkPipeline has been created.
  bool is_made() const { return stage_.load(std::memory_order_acquire) == Stage::kMade; }
  // The driver's pipeline. Valid only if is_made() is true.
  VkPipeline handle() const { return handle_; }

 private:
  friend class PipelineCompiler;
  enum class Stage : uint8_t { kWanted, kBegun, kMade };

  const Driver& driver_;
  const std::vector<uint32_t> spirv_;
  const Layout& layout_;
  mutable std::atomic<Stage> stage_{
      Stage::kWanted};  // Written only with the mutex of PipelineCompiler locked.
  mutable VkPipeline handle_ = VK_NULL_HANDLE;
};

}  // namespace tenon_vulkan
