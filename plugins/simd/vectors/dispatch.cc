#include "plugins/simd/vectors/dispatch.h"

namespace tenon_simd {

bool has_avx512() {
#if defined(__x86_64__) && !defined(HWY_COMPILE_ONLY_STATIC)
  static const bool has = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  }();
  return has;
#else
  return false;
#endif
}

unsigned vector_bits() {
#if defined(__x86_64__)
  return has_avx512() ? 512 : 256;
#else
  return 128;
#endif
}

}  // namespace tenon_simd
