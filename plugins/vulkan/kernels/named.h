// Sets names of kernels if a debugging tool displays them.

#pragma once

#include "plugins/sdk/loop.h"
#include "plugins/vulkan/kernels/kernels.h"

namespace tenon_vulkan {

// Sets the name of the prepared kernel to that of the op, and returns the kernel.
Prepared with_name(const Request& request, Prepared prepared);

// Calls the prepare function `function`, and returns its kernel with the name of the op.
template <Prepared (*function)(const Request&)>
Prepared prepare_named(const Request& request) {
  return with_name(request, function(request));
}

// Implements the plugin's function prepare_loop. Names the kernel "loop(add,mul)" or, with an
// anchor, "loop(matmul,add)".
Prepared prepare_named_loop(const tenon_sdk::LoopRequest& request);

}  // namespace tenon_vulkan
