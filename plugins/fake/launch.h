// Launches that outlive the call which asks for them.

#pragma once

#include "plugins/fake/stream.h"

namespace tenon_fake {

tenon_error* launch(tenon_kernel_p* kernel, tenon_stream_p* stream, const tenon_launch* launch);

// The kernels of `ref`, prepared through us.
const tenon_kernel* kernels();
size_t count_kernels();
tenon_error* prepare_loop(tenon_device_p* device, const tenon_loop_request* request,
                          tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                          tenon_string* out_reason);

}  // namespace tenon_fake
