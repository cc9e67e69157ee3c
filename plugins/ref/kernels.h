// Declares the functions named in kernels.def, by file, and the traits of all kernels.

#pragma once

#include "plugins/sdk/kernel.h"

namespace tenon_ref {

using tenon_sdk::Prepared;
using tenon_sdk::Request;

inline constexpr uint32_t kTraits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC;
// Traits of kernels that read element i of each input before they write element i of the output.
// The output may therefore share memory with an input.
inline constexpr uint32_t kElementwise = kTraits | TENON_KERNEL_MAY_ALIAS;

// Refuses an op whose output sizes depend on data and are not given by the attribute `size`.
inline Prepared refuse_unsized() {
  return tenon_sdk::refuse(
      "needs the attribute size, without which the output sizes depend on data");
}

// unary.cc
Prepared prepare_unary(const Request& request);
Prepared prepare_float_unary(const Request& request);
Prepared prepare_predicate(const Request& request);

// binary.cc
Prepared prepare_arithmetic(const Request& request);
Prepared prepare_float_binary(const Request& request);
Prepared prepare_nextafter(const Request& request);
Prepared prepare_compare(const Request& request);
Prepared prepare_logical(const Request& request);
Prepared prepare_bitwise(const Request& request);

// ternary.cc
Prepared prepare_clip(const Request& request);
Prepared prepare_fma(const Request& request);
Prepared prepare_where(const Request& request);

// create.cc
Prepared prepare_fill(const Request& request);
Prepared prepare_iota(const Request& request);

// random.cc
Prepared prepare_rng_bits(const Request& request);

// copy_cast.cc
Prepared prepare_copy(const Request& request);
Prepared prepare_cast(const Request& request);

// move.cc
Prepared prepare_concat(const Request& request);
Prepared prepare_pad(const Request& request);
Prepared prepare_dynamic_slice(const Request& request);
Prepared prepare_dynamic_update_slice(const Request& request);

// index.cc
Prepared prepare_gather(const Request& request);
Prepared prepare_gather_elements(const Request& request);
Prepared prepare_gather_nd(const Request& request);
Prepared prepare_scatter_elements(const Request& request);
Prepared prepare_scatter_nd(const Request& request);
Prepared prepare_nonzero(const Request& request);

// sort.cc
Prepared prepare_sort(const Request& request);
Prepared prepare_argsort(const Request& request);
Prepared prepare_top_k(const Request& request);
Prepared prepare_searchsorted(const Request& request);
Prepared prepare_unique(const Request& request);

// reduce.cc
Prepared prepare_reduce(const Request& request);
Prepared prepare_arg_reduce(const Request& request);

// scan.cc
Prepared prepare_scan(const Request& request);
Prepared prepare_extreme_scan(const Request& request);

// matmul.cc
Prepared prepare_matmul(const Request& request);
Prepared prepare_int8_matmul(const Request& request);

// conv.cc
Prepared prepare_conv(const Request& request);
Prepared prepare_conv_backward_filter(const Request& request);

// pool.cc
Prepared prepare_max_pool(const Request& request);
Prepared prepare_window_sum(const Request& request);

// linalg.cc
Prepared prepare_cholesky(const Request& request);
Prepared prepare_triangular_solve(const Request& request);
Prepared prepare_solve(const Request& request);
Prepared prepare_det(const Request& request);
Prepared prepare_slogdet(const Request& request);
Prepared prepare_qr(const Request& request);
Prepared prepare_svd(const Request& request);
Prepared prepare_eigh(const Request& request);

}  // namespace tenon_ref
