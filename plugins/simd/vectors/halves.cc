// Converts half types to float32 and back, rounding to nearest with ties to even.

#include <cstring>

#include "plugins/simd/kernels/elementwise.h"

#if defined(__F16C__) || defined(__AVX2__)
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

#if defined(__AVX2__)
// Rounds eight floats to bfloat16, in the lower halves of the lanes. Makes NaN quiet.
inline __m256i round_to_bfloat16(const float* from) {
  const __m256 x = _mm256_loadu_ps(from);
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256 result = _mm256_blendv_ps(_mm256_castsi256_ps(rounded), _mm256_castsi256_ps(quiet),
                                         _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  return _mm256_srli_epi32(_mm256_castps_si256(result), 16);
}
#endif

void narrow_bfloat16(const float* from, uint16_t* to, size_t n) {
  size_t i = 0;
#if defined(__AVX2__)
  for (; i + 16 <= n; i += 16) {
    const __m256i packed =
        _mm256_packus_epi32(round_to_bfloat16(from + i), round_to_bfloat16(from + i + 8));
    // The instruction packs each half of 16 bytes on its own.
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm256_permute4x64_epi64(packed, 0xd8));
  }
#endif
  for (; i < n; ++i) to[i] = tenon_sdk::bfloat16_bits(from[i]);
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
  narrow_bfloat16(from, bits, n);
}

}  // namespace tenon_simd
