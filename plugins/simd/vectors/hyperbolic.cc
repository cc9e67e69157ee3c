// Spans of sinh, cosh, erf and gelu.

#include "plugins/simd/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/hyperbolic.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/exp_log-inl.h"
#include "plugins/simd/vectors/functions-inl.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

// The argument reduction of sinh and cosh for a >= 0: exp(a) = 4 (q + 1) quarter, where `quarter`
// is a power of two that is finite for all a for which the results are.
template <class D>
struct Exponential {
  using V = hn::Vec<D>;
  V q, quarter;
  HWY_INLINE Exponential(D d, V a) {
    a = hn::Min(hn::Set(d, Numbers<D>::kSinhHigh), a);
    const Nearest<D> nearest(d, a, hn::Set(d, Numbers<D>::kLog2E));
    q = expm1_reduced(d, a, nearest);
    quarter = shifted_power<2>(d, nearest);
  }
};

// sinh(a) = h + h / (2 h + 1) with h = expm1(a) / 2. For large h, the quotient is 1/2.
struct Sinh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    const Exponential<D> e(d, hn::Abs(x));
    const V half_h = hn::MulAdd(e.q, e.quarter, hn::Sub(e.quarter, hn::Set(d, 0.25)));
    const V h = hn::Add(half_h, half_h);
    const V bounded = hn::Min(hn::Set(d, Numbers<D>::kUpscale), h);
    const V quotient = hn::Div(bounded, hn::MulAdd(hn::Set(d, 2), bounded, hn::Set(d, 1)));
    return hn::CopySign(hn::Add(h, quotient), x);
  }
};

// cosh(a) = h + 1 / (4 h) with h = exp(a) / 2.
struct Cosh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    const Exponential<D> e(d, hn::Abs(x));
    const V half_h = hn::MulAdd(e.q, e.quarter, e.quarter);
    const V h = hn::Add(half_h, half_h);
    return hn::Add(h, hn::Div(hn::Set(d, 0.25), h));
  }
};

// erf(x): x + x p(x^2) for x up to 1, otherwise 1 - exp(q(x - 1)) with q(t) = log(erfc(1 + t)).
template <class D, class V>
HWY_INLINE V erf(D d, V x) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, 1);
  const V a = hn::Min(hn::Set(d, Numbers<D>::kErfOne), hn::Abs(x));
  const V inner = hn::MulAdd(a, polynomial(d, hn::Mul(a, a), kErf<T>), a);
  const V t = hn::Sub(a, one);
  const V outer = hn::Sub(one, exp(d, polynomial(d, t, kLogErfc<T>)));
  return hn::CopySign(hn::IfThenElse(hn::Lt(a, one), inner, outer), x);
}
TENON_CPU_FUNCTION1(Erf, erf(d, x))

struct Gelu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    const V e = erf(d, hn::Mul(x, hn::Set(d, Numbers<D>::kRsqrt2)));
    const V half = hn::Mul(hn::Set(d, 0.5), x);
    return hn::MulAdd(half, e, half);
  }
};

// The tanh approximation of gelu: x sigmoid(2 u) equals x (1 + tanh(u)) / 2.
struct GeluTanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    const V cubic =
        hn::MulAdd(hn::Mul(hn::Set(d, static_cast<hn::TFromD<D>>(0.044715)), x), hn::Mul(x, x), x);
    const V u = hn::Mul(hn::Set(d, static_cast<hn::TFromD<D>>(0x1.9884533d43651p+0)), cubic);
    return hn::Mul(x, sigmoid(d, u));
  }
};

constexpr SpanEntry kSpans[] = {
    TENON_CPU_SPANS(unary, sinh, Sinh, kHeavy),
    TENON_CPU_SPANS(unary, cosh, Cosh, kHeavy),
    TENON_CPU_SPANS(unary, erf, Erf, kHeavy),
    TENON_CPU_SPANS(unary, gelu, Gelu, kHeavy),
};

SpanTable hyperbolic_table() { return {kSpans, sizeof(kSpans) / sizeof(SpanEntry)}; }

Span gelu_tanh_of(tenon_dtype dtype) {
  return dtype == TENON_FLOAT32 ? unary_span<float, GeluTanh> : unary_span<double, GeluTanh>;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

Span gelu_tanh_span(tenon_dtype dtype) { return TENON_SIMD_CHOOSE(gelu_tanh_of(dtype)); }

SpanTable hyperbolic_spans() { return TENON_SIMD_CHOOSE(hyperbolic_table()); }

}  // namespace tenon_simd
#endif
