// Transcendental functions as CUDA C++ source, from the expansions of plugins/sdk.

#pragma once

#include <string>

#include "plugins/sdk/dtype.h"

namespace tenon_cuda {

// Whether kernels compute the op by its expansion for floating-point dtypes.
bool has_expansion(uint32_t op);

// Returns the source of a function op_NAME(T) or op_NAME(T, T) for elements of a floating-point
// dtype.
std::string expansion_source(uint32_t op, const std::string& name, tenon_dtype dtype);

}  // namespace tenon_cuda
