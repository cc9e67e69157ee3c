#include "plugins/simd/vectors/winograd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/winograd.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/vectors/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Vec = hn::Vec<Floats>;
constexpr int64_t kLanes = hn::MaxLanes(Floats());

void split(const float* from, int64_t n, float* to, int64_t step) {
  const Floats d;
  for (int64_t i = 0; i < n; i += kLanes) {
    Vec a, b, c, e;
    hn::LoadInterleaved4(d, from + 4 * i, a, b, c, e);
    hn::StoreU(a, d, to + i);
    hn::StoreU(b, d, to + step + i);
    hn::StoreU(c, d, to + 2 * step + i);
    hn::StoreU(e, d, to + 3 * step + i);
  }
}

// Multiplies a column of six input elements by the transposed matrix B of the paper.
HWY_INLINE void input_column(const Vec* x, Vec* to) {
  const Floats d;
  const Vec two = hn::Set(d, 2.0f), four = hn::Set(d, 4.0f), five = hn::Set(d, 5.0f);
  const Vec a = hn::NegMulAdd(four, x[2], x[4]), b = hn::NegMulAdd(four, x[1], x[3]);
  const Vec c = hn::Sub(x[4], x[2]), e = hn::Mul(two, hn::Sub(x[3], x[1]));
  to[0] = hn::MulAdd(four, x[0], hn::NegMulAdd(five, x[2], x[4]));
  to[1] = hn::Add(a, b);
  to[2] = hn::Sub(a, b);
  to[3] = hn::Add(c, e);
  to[4] = hn::Sub(c, e);
  to[5] = hn::MulAdd(four, x[1], hn::NegMulAdd(five, x[3], x[5]));
}

void input(const float* from, int64_t row, int64_t phase, int64_t n, float* to, int64_t step) {
  const Floats d;
  for (int64_t t = 0; t < n; t += kLanes) {
    Vec half[kWinogradIn][kWinogradIn];  // Indexed by column, then by transformed row.
    for (int64_t j = 0; j < kWinogradIn; ++j) {
      const float* const column = from + j % 4 * phase + j / 4 + t;
      Vec x[kWinogradIn];
      for (int64_t i = 0; i < kWinogradIn; ++i) x[i] = hn::LoadU(d, column + i * row);
      input_column(x, half[j]);
    }
    for (int64_t i = 0; i < kWinogradIn; ++i) {
      Vec x[kWinogradIn], terms[kWinogradIn];
      for (int64_t j = 0; j < kWinogradIn; ++j) x[j] = half[j][i];
      input_column(x, terms);
      for (int64_t j = 0; j < kWinogradIn; ++j) {
        hn::StoreU(terms[j], d, to + (i * kWinogradIn + j) * step + t);
      }
    }
  }
}

// Multiplies a column of six terms by the transposed matrix A of the paper.
HWY_INLINE void output_column(const Vec* x, Vec* to) {
  const Floats d;
  const Vec two = hn::Set(d, 2.0f), four = hn::Set(d, 4.0f), eight = hn::Set(d, 8.0f);
  const Vec a = hn::Add(x[1], x[2]), b = hn::Sub(x[1], x[2]);
  const Vec c = hn::Add(x[3], x[4]), e = hn::Sub(x[3], x[4]);
  to[0] = hn::Add(hn::Add(x[0], a), c);
  to[1] = hn::MulAdd(two, e, b);
  to[2] = hn::MulAdd(four, c, a);
  to[3] = hn::Add(hn::MulAdd(eight, e, b), x[5]);
}

void output(const float* from, int64_t step, int64_t n, const float* bias, float* to) {
  const Floats d;
  for (int64_t m = 0; m < n; m += kLanes) {
    const Vec added = bias != nullptr ? hn::LoadU(d, bias + m) : hn::Zero(d);
    Vec half[kWinogradIn][kWinogradOut];  // Indexed by column, then by row of the output.
    for (int64_t j = 0; j < kWinogradIn; ++j) {
      Vec x[kWinogradIn];
      for (int64_t i = 0; i < kWinogradIn; ++i) {
        x[i] = hn::LoadU(d, from + (i * kWinogradIn + j) * step + m);
      }
      output_column(x, half[j]);
    }
    for (int64_t i = 0; i < kWinogradOut; ++i) {
      Vec x[kWinogradIn], y[kWinogradOut];
      for (int64_t j = 0; j < kWinogradIn; ++j) x[j] = half[j][i];
      output_column(x, y);
      for (int64_t j = 0; j < kWinogradOut; ++j) {
        hn::StoreU(hn::Add(added, y[j]), d, to + (i * kWinogradOut + j) * n + m);
      }
    }
  }
}

constexpr WinogradTransforms kTransforms = {
    .lanes = kLanes, .split = split, .input = input, .output = output};

const WinogradTransforms& transforms() { return kTransforms; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

const WinogradTransforms& winograd_transforms() { return TENON_SIMD_CHOOSE(transforms()); }

}  // namespace tenon_simd
#endif
