// A pipeline that is created at the first launch that needs it. A kernel may have several shaders,
// and the sizes of a launch select one.

#pragma once

#include <atomic>
#include <mutex>

#include "plugins/vulkan/encoder.h"
#include "plugins/vulkan/spirv/module.h"

namespace tenon_vulkan {

class LazyPipeline {
 public:
  // Returns the pipeline. The first call creates it from the SPIR-V that `make()` returns. If two
  // threads generate the SPIR-V at once, the device still caches only one pipeline.
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
