// Runs kernels that are written for float32 and float64 on half types. Inputs are converted to
// float32 first, and outputs are rounded at the end.

#pragma once

#include "plugins/simd/kernels/wide_launch.h"

namespace tenon_simd {

// Prepares a kernel that calls function(Type<T>, launch). T is double if the operand with index
// `input` is float64, otherwise float. If that operand has a half type, converts operands of this
// type from and to float32.
template <class Function>
Prepared through_float(const Request& request, Function function, size_t input = 0) {
  return through_wide<float, double>(request.input(input).dtype, std::move(function));
}

// Prepares such a kernel, which converts bands of rows.
template <class Function>
Prepared through_float(const Request& request, const RowOperands& rows, Function function) {
  return through_wide<float, double>(request.input(0).dtype, std::move(function), &pool_of(request),
                                     rows);
}

}  // namespace tenon_simd
