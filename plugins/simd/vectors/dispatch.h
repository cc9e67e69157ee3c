// Selects the functions for the widest vectors that the processor supports, once for each table of
// functions.
//
// The whole plugin is compiled for AVX2 with FMA, or for NEON; plugin.cc checks that the processor
// supports them. AVX-512 is used where available. All of these have a fused multiply-add, so
// results do not depend on the selection. WebAssembly has no fused multiply-add.

#pragma once

#include <hwy/detect_targets.h>

#if defined(__x86_64__) && !defined(HWY_COMPILE_ONLY_STATIC)
#define TENON_SIMD_CHOOSE(name) (tenon_simd::has_avx512() ? N_AVX3::name : N_AVX2::name)
#else
#define TENON_SIMD_CHOOSE(name) HWY_STATIC_DISPATCH(name)
#endif

namespace tenon_simd {

bool has_avx512();

// Returns the width of the selected vectors in bits.
unsigned vector_bits();

}  // namespace tenon_simd
