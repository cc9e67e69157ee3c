// Sets names of kernels if a debugging tool displays them.

#pragma once

#include "plugins/sdk/loop.h"
#include "plugins/vulkan/kernels/kernels.h"

namespace tenon_vulkan {

// Sets the kernel's name to that of the op.
Prepared with_name(const Request& request, Prepared prepared);

// Calls the kernel's prepare function `function` and sets the kernel's name.
template <Prepared (*function)(const Request&)>
Prepared named(const Request& request) {
  return with_name(request, function(request));
}

// Implements the plugin's function prepare_loop. Names the kernel "loop(add,mul)" or, with an
// anchor, "loop(matmul,add)".
Prepared prepare_named_loop(const tenon_sdk::LoopRequest& request);

}  // namespace tenon_vulkan
