#include "plugins/simd/vectors/channel_gradient.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/channel_gradient.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/kernels/elementwise.h"
#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Computes g and z of a vector of elements. Each operation rounds like the kernel of its op.
template <bool kMasks, bool kAdds>
struct Channel {
  HWY_INLINE explicit Channel(const ChannelGradientRun& run)
      : run_(run), mean_(hn::Set(D(), run.mean)), inv_std_(hn::Set(D(), run.inv_std)) {}

  HWY_INLINE V g(int64_t i) const {
    V g = hn::LoadU(D(), run_.a + i);
    if constexpr (kAdds) g = hn::Add(g, hn::LoadU(D(), run_.b + i));
    if constexpr (kMasks) {
      g = hn::IfThenElseZero(hn::Gt(hn::LoadU(D(), run_.mask + i), hn::Zero(D())), g);
    }
    return g;
  }
  HWY_INLINE V z(int64_t i) const {
    return hn::Mul(hn::Sub(hn::LoadU(D(), run_.x + i), mean_), inv_std_);
  }

 private:
  const ChannelGradientRun& run_;
  V mean_, inv_std_;
};

template <bool kMasks, bool kAdds>
void add_sums(const ChannelGradientRun& run, bool begins, ChannelSums& sums) {
  const D d;
  constexpr int64_t kStep = hn::MaxLanes(d), kLanes = 64;
  const Channel<kMasks, kAdds> channel(run);
  const V scale = hn::Set(d, run.scale);
  // As many partial sums at a time as fit into the registers.
  constexpr int64_t kPart = HWY_TARGET == HWY_AVX3 ? kLanes : 2 * kStep;
  constexpr size_t kVectors = kPart / kStep;
  for (int64_t first = 0; first < kLanes; first += kPart) {
    V dz[kVectors], dz_z[kVectors], g_z[kVectors], all_g[kVectors];
    HWY_UNROLL(4)
    for (size_t v = 0; v < kVectors; ++v) {
      const int64_t at = first + static_cast<int64_t>(v) * kStep;
      dz[v] = begins ? hn::Zero(d) : hn::Load(d, sums.dz + at);
      dz_z[v] = begins ? hn::Zero(d) : hn::Load(d, sums.dz_z + at);
      g_z[v] = begins ? hn::Zero(d) : hn::Load(d, sums.g_z + at);
      all_g[v] = begins ? hn::Zero(d) : hn::Load(d, sums.g + at);
    }
    for (int64_t i = first; i < run.n; i += kLanes) {
      HWY_UNROLL(4)
      for (size_t v = 0; v < kVectors; ++v) {
        const int64_t at = i + static_cast<int64_t>(v) * kStep;
        const V g = channel.g(at), z = channel.z(at), scaled = hn::Mul(g, scale);
        dz[v] = hn::Add(dz[v], scaled);
        dz_z[v] = hn::Add(dz_z[v], hn::Mul(scaled, z));
        g_z[v] = hn::Add(g_z[v], hn::Mul(g, z));
        all_g[v] = hn::Add(all_g[v], g);
      }
    }
    HWY_UNROLL(4)
    for (size_t v = 0; v < kVectors; ++v) {
      const int64_t at = first + static_cast<int64_t>(v) * kStep;
      hn::Store(dz[v], d, sums.dz + at);
      hn::Store(dz_z[v], d, sums.dz_z + at);
      hn::Store(g_z[v], d, sums.g_z + at);
      hn::Store(all_g[v], d, sums.g + at);
    }
  }
}

template <bool kMasks, bool kAdds>
void store(const ChannelGradientRun& run, float constant, float slope, float* dx, float* g) {
  const D d;
  constexpr int64_t kStep = hn::MaxLanes(d);
  const Channel<kMasks, kAdds> channel(run);
  const V scale = hn::Set(d, run.scale), inv_std = hn::Set(d, run.inv_std);
  const V constants = hn::Set(d, constant), slopes = hn::Set(d, slope);
  for (int64_t i = 0; i < run.n; i += kStep) {
    const V each_g = channel.g(i), z = channel.z(i);
    const V scaled = hn::Mul(hn::Mul(each_g, scale), inv_std);
    hn::StoreU(hn::Sub(hn::Sub(scaled, constants), hn::Mul(z, slopes)), d, dx + i);
    if (g != nullptr) hn::StoreU(each_g, d, g + i);
  }
}

void add_sums_of(const ChannelGradientRun& run, bool begins, ChannelSums& sums) {
  if (run.mask != nullptr) {
    return run.b != nullptr ? add_sums<true, true>(run, begins, sums)
                            : add_sums<true, false>(run, begins, sums);
  }
  run.b != nullptr ? add_sums<false, true>(run, begins, sums)
                   : add_sums<false, false>(run, begins, sums);
}

void store_of(const ChannelGradientRun& run, float constant, float slope, float* dx, float* g) {
  if (run.mask != nullptr) {
    return run.b != nullptr ? store<true, true>(run, constant, slope, dx, g)
                            : store<true, false>(run, constant, slope, dx, g);
  }
  run.b != nullptr ? store<false, true>(run, constant, slope, dx, g)
                   : store<false, false>(run, constant, slope, dx, g);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

void add_channel_sums(const ChannelGradientRun& run, bool begins, ChannelSums& sums) {
  TENON_SIMD_CHOOSE(add_sums_of)(run, begins, sums);
}
void store_channel_gradient(const ChannelGradientRun& run, float constant, float slope, float* dx,
                            float* g) {
  TENON_SIMD_CHOOSE(store_of)(run, constant, slope, dx, g);
}

}  // namespace tenon_simd
#endif
