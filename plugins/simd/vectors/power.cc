// Spans of pow.
//
// float32 is computed in float64 as exp2(y log2(x)), with an error of half an ulp. Bases that are
// not positive and normal, and exponents that are not finite, are special cases. Lanes with special
// cases, and all of float64, use the C library.

#include <cmath>

#include "plugins/simd/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/power.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/exp_log-inl.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

// Computes x^y in float64 as exp2(y log2(x)), for positive normal x.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V wide_power(D d, V x, V y) {
  return exp2(d, hn::Mul(y, log2(d, x)));
}

struct Pow {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V y, const SpanParams&) const {
    const hn::Repartition<double, D> dd;
    const hn::Half<D> half;
    const V one = hn::Set(d, 1);
    const auto regular = hn::And(
        hn::And(hn::Ge(x, hn::Set(d, std::numeric_limits<float>::min())), hn::Lt(x, infinity(d))),
        hn::Lt(hn::Abs(y), infinity(d)));
    const V base = hn::IfThenElse(regular, x, one);
    const V exponent = hn::IfThenElse(regular, y, one);
    const auto low = wide_power(dd, hn::PromoteTo(dd, hn::LowerHalf(half, base)),
                                hn::PromoteTo(dd, hn::LowerHalf(half, exponent)));
    const auto high = wide_power(dd, hn::PromoteTo(dd, hn::UpperHalf(half, base)),
                                 hn::PromoteTo(dd, hn::UpperHalf(half, exponent)));
    const V result = hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
    if (HWY_LIKELY(hn::AllTrue(d, regular))) return result;

    HWY_ALIGN float from[hn::MaxLanes(d)], by[hn::MaxLanes(d)], to[hn::MaxLanes(d)];
    hn::Store(x, d, from);
    hn::Store(y, d, by);
    hn::Store(result, d, to);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      const bool is_regular = from[i] >= std::numeric_limits<float>::min() &&
                              std::isfinite(from[i]) && std::isfinite(by[i]);
      if (!is_regular) {
        to[i] = static_cast<float>(std::pow(static_cast<double>(from[i]), by[i]));
      }
    }
    return hn::Load(d, to);
  }
};

// The span of pow in float64, computed by the C library.
void pow_f64(const void* const* in, const size_t* step, void* out, size_t n, const SpanParams&) {
  const double* x = static_cast<const double*>(in[0]);
  const double* y = static_cast<const double*>(in[1]);
  double* to = static_cast<double*>(out);
  for (size_t i = 0; i < n; ++i) to[i] = std::pow(x[i * step[0]], y[i * step[1]]);
}

constexpr SpanEntry kSpans[] = {
    {TENON_OP_pow, TENON_FLOAT32, binary_span<float, Pow>, Cost::kHeavy},
    {TENON_OP_pow, TENON_FLOAT64, pow_f64, Cost::kHeavy},
};

SpanTable power_table() { return {kSpans, sizeof(kSpans) / sizeof(SpanEntry)}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

SpanTable power_spans() { return TENON_SIMD_CHOOSE(power_table()); }

}  // namespace tenon_simd
#endif
