// The two passes over a run of elements for the gradient of a normalised channel
// (kernels/channel_gradient.h).

#pragma once

#include <cstdint>

namespace tenon_simd {

// Arguments for `n` contiguous elements of a channel; n is a multiple of 64. In the formulas,
// g = a + b, or a without `b`; with `mask`, g is 0 where mask <= 0. z = (x - mean) * inv_std, and
// dz = g * scale.
struct ChannelGradientRun {
  int64_t n;
  const float *x, *mask, *a, *b;  // `mask` and `b` may be NULL.
  float mean, inv_std, scale;
};

// Partial sums of four values. Element i is added to the partial sums with index i % 64.
struct ChannelSums {
  alignas(64) float dz[64], dz_z[64], g_z[64], g[64];
};

// Adds the elements to the partial sums. `begins`: the sums are 0 before.
void add_channel_sums(const ChannelGradientRun& run, bool begins, ChannelSums& sums);

// Stores dx = dz * inv_std - constant - z * slope and, if `g` is not NULL, g. The outputs may share
// the memory of inputs.
void store_channel_gradient(const ChannelGradientRun& run, float constant, float slope, float* dx,
                            float* g);

}  // namespace tenon_simd
