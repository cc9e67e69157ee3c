// The functions that prepare the kernels of kernels.def, and shared helpers.

#pragma once

#include "plugins/cuda/encoder.h"
#include "plugins/cuda/kernels/parameters.h"
#include "plugins/sdk/kernel.h"
#include "plugins/sdk/loop.h"
#include "plugins/sdk/view.h"

namespace tenon_cuda {

using tenon_sdk::Prepared;
using tenon_sdk::Request;

inline constexpr uint32_t kTraits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC;

// Implements the plugin's function prepare_loop.
Prepared prepare_loop(const tenon_sdk::LoopRequest& request);

Prepared prepare_elementwise(const Request& request);
Prepared prepare_copy(const Request& request);
Prepared prepare_fill(const Request& request);
// Prepares sum, prod, max and min.
Prepared prepare_reduce(const Request& request);
// Prepares argmax and argmin.
Prepared prepare_arg_reduce(const Request& request);
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
Prepared prepare_nonzero(const Request& request);
Prepared prepare_sort(const Request& request);
Prepared prepare_argsort(const Request& request);
Prepared prepare_top_k(const Request& request);
Prepared prepare_searchsorted(const Request& request);
// Prepares cumsum and cumprod.
Prepared prepare_scan(const Request& request);
// Prepares cummax and cummin.
Prepared prepare_extreme_scan(const Request& request);
Prepared prepare_matmul(const Request& request);
Prepared prepare_gemm(const Request& request);
Prepared prepare_attention(const Request& request);
Prepared prepare_int8_matmul(const Request& request);
Prepared prepare_conv(const Request& request);
Prepared prepare_conv_backward_filter(const Request& request);
Prepared prepare_conv_backward_input(const Request& request);
Prepared prepare_max_pool(const Request& request);
Prepared prepare_window_sum(const Request& request);

}  // namespace tenon_cuda
