// Selects the widest vectors that the processor supports, once for each table.
//
// The whole plugin is compiled for AVX2 with FMA, or for NEON, which plugin.cc checks; AVX-512 is
// used where available. All have a fused multiply-add, so results do not depend on the choice. Only
// WebAssembly has none.

#pragma once

#include <hwy/detect_targets.h>

#if defined(__x86_64__) && !defined(HWY_COMPILE_ONLY_STATIC)
#define TENON_SIMD_CHOOSE(name) (tenon_simd::has_avx512() ? N_AVX3::name : N_AVX2::name)
#else
#define TENON_SIMD_CHOOSE(name) HWY_STATIC_DISPATCH(name)
#endif

namespace tenon_simd {

bool has_avx512();

// The width of the vectors in use.
unsigned vector_bits();

}  // namespace tenon_simd
