// A pipeline that is made at the first launch that needs it: the sizes of a launch select among a
// kernel's shaders.

#pragma once

#include <atomic>
#include <mutex>

#include "plugins/vulkan/encoder.h"
#include "plugins/vulkan/spirv/module.h"

namespace tenon_vulkan {

class LazyPipeline {
 public:
  // `make()` returns the SPIR-V. Two threads may both generate it: the device keeps one pipeline.
  template <class Make>
  tenon_error* get(tenon_device_p* device, uint32_t n_operands, const Pipeline** out_pipeline,
                   const Make& make, uint32_t texels = 0) const {
    *out_pipeline = made_.load(std::memory_order_acquire);
    if (*out_pipeline != nullptr) return nullptr;
    PipelineRef made;
    if (tenon_error* error = make_pipeline(device, make(), n_operands, &made, texels)) return error;
    std::lock_guard guard(mutex_);
    owned_ = std::move(made);
    *out_pipeline = owned_.get();
    made_.store(*out_pipeline, std::memory_order_release);
    return nullptr;
  }

 private:
  mutable std::atomic<const Pipeline*> made_{nullptr};
  mutable std::mutex mutex_;
  mutable PipelineRef owned_;
};

}  // namespace tenon_vulkan
