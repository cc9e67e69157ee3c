// Copies between operands with any strides.

#pragma once

#include "plugins/vulkan/encoder.h"

namespace tenon_vulkan {

// Makes the pipeline that strided_copy() dispatches for operands of this dtype.
tenon_error* make_strided_copy(tenon_device_p* device, tenon_dtype dtype,
                               PipelineRef* out_pipeline);

// Copies the elements of `view`, which is operand `from`, to operand `to`, which has strides
// `to_strides`. The copy begins `first` elements after the beginning of `to`.
tenon_error* strided_copy(Encoder& encoder, const PipelineRef& pipeline, const Operand& from,
                          const Operand& to, const tenon_view& view, const int64_t* to_strides,
                          int64_t first);

}  // namespace tenon_vulkan
