// Computes unary functions of half types by a table of their 65,536 results.

#pragma once

#include "plugins/simd/kernels/elementwise.h"

namespace tenon_simd {

// Makes a kernel that runs a unary span of float32 on a half type. Tensors that have at least as
// many elements as the table use the table of this span and dtype, which the first of them
// computes. The results have the same bits as without it.
Prepared make_tabled(const Request& request, const SpanEntry& entry);

}  // namespace tenon_simd
