// OpenBLAS, which is loaded when a kernel needs it first.

#pragma once

#include <string_view>

#include "plugins/simd/blas_table.h"

namespace tenon_simd {

// Loads OpenBLAS at the first call. NULL if it is not installed or does not know this processor.
// Throws std::bad_alloc if there is no memory to load it; a later call tries again.
const Blas* find_openblas();

// Names the loaded OpenBLAS, or says why there is none: "OpenBLAS 0.3.21 (Cooperlake)". Loads it,
// too.
std::string_view describe_openblas();

}  // namespace tenon_simd
