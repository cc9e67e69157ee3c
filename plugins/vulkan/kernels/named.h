// Kernels with the names of what they compute, where a tool shows names.

#pragma once

#include "plugins/sdk/loop.h"
#include "plugins/vulkan/kernels/kernels.h"

namespace tenon_vulkan {

// Gives the kernel the op's name.
Prepared with_name(const Request& request, Prepared prepared);

template <Prepared (*function)(const Request&)>
Prepared named(const Request& request) {
  return with_name(request, function(request));
}

// The slot's: "loop(add,mul)", behind a head "loop(matmul,add)".
Prepared prepare_named_loop(const tenon_sdk::LoopRequest& request);

}  // namespace tenon_vulkan
