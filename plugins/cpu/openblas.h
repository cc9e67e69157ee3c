// Access to OpenBLAS, which is loaded when a kernel needs it for the first time.

#pragma once

#include <string_view>

#include "plugins/simd/blas_table.h"

namespace tenon_simd {

// Returns OpenBLAS, which the first call loads. Returns NULL if it is not installed or does not
// support this processor. Throws std::bad_alloc if memory for loading it is exhausted; a later call
// tries again.
const Blas* find_openblas();

// Returns the name of OpenBLAS, such as "OpenBLAS 0.3.21 (Cooperlake)", or the reason why it is not
// used. Also loads it.
std::string_view describe_openblas();

}  // namespace tenon_simd
