// fma of half types, with one rounding. The sum in float32 is rounded to odd, so that its later
// conversion to the half type gives the correctly rounded result.

#include "plugins/simd/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/half_fma.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/round_to_odd.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

struct HalfFma {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V y, V z, const SpanParams&) const {
    const hn::RebindToSigned<D> di;
    const auto zero = hn::Zero(di), one = hn::Set(di, 1);
    const V product = hn::Mul(x, y), sum = hn::Add(product, z);
    const V part = hn::Sub(sum, product);
    const V lost = hn::Add(hn::Sub(product, hn::Sub(sum, part)), hn::Sub(z, part));
    // If the sum is even and was rounded, moves it by one towards the exact sum.
    const auto bits = hn::BitCast(di, sum);
    const auto away = hn::Or(hn::BroadcastSignBit(hn::Xor(bits, hn::BitCast(di, lost))), one);
    const auto is_even = hn::RebindMask(d, hn::Eq(hn::And(bits, one), zero));
    const auto moves = hn::AndNot(hn::Eq(lost, hn::Zero(d)), is_even);
    const V odd =
        hn::BitCast(d, hn::Add(bits, hn::IfThenElseZero(hn::RebindMask(di, moves), away)));
    // Products of half types are exact in float32 unless they underflow.
    const auto is_exact = hn::Or(hn::Ge(hn::Abs(product), hn::Set(d, 0x1p-100F)),
                                 hn::Or(hn::Eq(x, hn::Zero(d)), hn::Eq(y, hn::Zero(d))));
    const auto is_finite = hn::Lt(hn::Abs(sum), hn::Set(d, HUGE_VALF));
    if (HWY_LIKELY(hn::AllTrue(d, hn::And(is_exact, is_finite)))) return odd;

    VectorBuffer<D> from[3], to;
    hn::Store(x, d, from[0].lanes);
    hn::Store(y, d, from[1].lanes);
    hn::Store(z, d, from[2].lanes);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      to.lanes[i] = fma_round_to_odd(from[0].lanes[i], from[1].lanes[i], from[2].lanes[i]);
    }
    return hn::Load(d, to.lanes);
  }
};

Span half_fma(tenon_dtype half) {
  return half == TENON_BFLOAT16 ? bfloat16_span<HalfFma, false, 3> : ternary_span<float, HalfFma>;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

// bfloat16 has a span of its own; float16 is converted.
Prepared prepare_half_fma(const Request& request) {
  const tenon_dtype half = request.input(0).dtype;
  const Span span = TENON_SIMD_CHOOSE(half_fma(half));
  return half == TENON_BFLOAT16 ? make_without_conversion(request, span)
                                : make_elementwise(request, span);
}

}  // namespace tenon_simd
#endif
