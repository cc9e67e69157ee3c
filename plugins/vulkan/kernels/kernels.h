// The functions that prepare the kernels of kernels.def, and shared helpers.

#pragma once

#include "plugins/sdk/kernel.h"
#include "plugins/sdk/view.h"
#include "plugins/vulkan/encoder.h"

namespace tenon_vulkan {

using tenon_sdk::Prepared;
using tenon_sdk::Request;

// Returns the unsigned integer dtype with the same element size, for kernels that move elements
// without computing.
inline tenon_dtype bits_dtype(tenon_dtype dtype) {
  switch (tenon_sdk::size_of(dtype)) {
    case 1:
      return TENON_UINT8;
    case 2:
      return TENON_UINT16;
    case 4:
      return TENON_UINT32;
    default:
      return TENON_UINT64;
  }
}

Prepared prepare_elementwise(const Request& request);
Prepared prepare_copy(const Request& request);
Prepared prepare_fill(const Request& request);
Prepared prepare_iota(const Request& request);
Prepared prepare_rng_bits(const Request& request);
Prepared prepare_concat(const Request& request);
Prepared prepare_pad(const Request& request);
Prepared prepare_dynamic_slice(const Request& request);
Prepared prepare_dynamic_update_slice(const Request& request);
Prepared prepare_gather(const Request& request);
Prepared prepare_gather_elements(const Request& request);
Prepared prepare_gather_nd(const Request& request);
Prepared prepare_scatter_elements(const Request& request);
Prepared prepare_scatter_nd(const Request& request);
Prepared prepare_matmul(const Request& request);
Prepared prepare_gemm(const Request& request);
Prepared prepare_attention(const Request& request);
Prepared prepare_scan(const Request& request);
Prepared prepare_extreme_scan(const Request& request);
Prepared prepare_sort(const Request& request);
Prepared prepare_argsort(const Request& request);
Prepared prepare_top_k(const Request& request);
Prepared prepare_searchsorted(const Request& request);
Prepared prepare_conv(const Request& request);
Prepared prepare_conv_backward_input(const Request& request);
Prepared prepare_conv_backward_filter(const Request& request);
Prepared prepare_max_pool(const Request& request);
Prepared prepare_window_sum(const Request& request);
Prepared prepare_nonzero(const Request& request);
Prepared prepare_int8_matmul(const Request& request);
Prepared prepare_reduce(const Request& request);
Prepared prepare_arg_reduce(const Request& request);

}  // namespace tenon_vulkan
