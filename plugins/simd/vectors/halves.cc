// Converts half types to float32 and back, rounding to nearest with ties to even.

#include <cstring>

#include "plugins/simd/kernels/elementwise.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace tenon_simd {
namespace {

void widen_float16(const uint16_t* from, float* to, size_t n) {
  size_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
  }
#endif
  for (; i < n; ++i) to[i] = tenon_sdk::half_value(from[i]);
}

void narrow_float16(const float* from, uint16_t* to, size_t n) {
  size_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i bits =
        _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
#endif
  for (; i < n; ++i) to[i] = tenon_sdk::half_bits(from[i]);
}

}  // namespace

void widen_half(tenon_dtype half, const void* from, float* to, size_t n) {
  const uint16_t* bits = static_cast<const uint16_t*>(from);
  if (half == TENON_FLOAT16) return widen_float16(bits, to, n);
  for (size_t i = 0; i < n; ++i) to[i] = tenon_sdk::bfloat16_value(bits[i]);
}

void narrow_half(tenon_dtype half, const float* from, void* to, size_t n) {
  uint16_t* bits = static_cast<uint16_t*>(to);
  if (half == TENON_FLOAT16) return narrow_float16(from, bits, n);
  for (size_t i = 0; i < n; ++i) bits[i] = tenon_sdk::bfloat16_bits(from[i]);
}

}  // namespace tenon_simd
