// The gradient of batch normalisation, as a fused loop over channels.

#pragma once

#include "plugins/simd/kernels.h"

namespace tenon_simd {

// If the loop computes the gradient of batch_norm_train with respect to x, which may begin with the
// gradient of relu, returns a kernel for it, which reads the elements twice. `general`: a kernel
// for the same loop, which serves operands of other layouts. Otherwise returns `general`.
Prepared prepare_channel_gradient(const tenon_sdk::LoopRequest& request, Prepared general);

}  // namespace tenon_simd
