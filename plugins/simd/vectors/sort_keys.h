#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tenon_simd {

// Returns the number of keys, at least `n`, that sort_keys() accepts: a power of two.
inline size_t padded_keys(size_t n) { return std::bit_ceil(n < 128 ? 128 : n); }

// Sort `n` keys in ascending order, where `n` is a result of padded_keys(). `spare` is memory for
// as many keys. Return the array that contains the result: `keys` or `spare`. Numbers of type
// double must not be NaN.
int32_t* sort_keys(int32_t* keys, int32_t* spare, size_t n);
int64_t* sort_keys(int64_t* keys, int64_t* spare, size_t n);
double* sort_keys(double* keys, double* spare, size_t n);

}  // namespace tenon_simd
