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

// sinh(a) = h + h / (2 h + 1) with h = expm1(a) / 2. For large a, for which exp(a) overflows but
// sinh(a) does not, multiplies twice by exp(a / 2).
struct Sinh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    const V one = hn::Set(d, 1);
    const V half = hn::Set(d, 0.5);
    const V a = hn::Abs(x);
    const V h = half_expm1(d, a);
    const V small = hn::Add(h, hn::Div(h, hn::MulAdd(hn::Set(d, 2), h, one)));
    const V root = exp(d, hn::Mul(half, a));
    const V large = hn::Mul(hn::Mul(half, root), root);
    const auto is_large = hn::Gt(a, hn::Set(d, Numbers<D>::kSinhLarge));
    return hn::CopySign(hn::IfThenElse(is_large, large, small), x);
  }
};

struct Cosh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    const V half = hn::Set(d, 0.5);
    const V a = hn::Abs(x);
    const auto is_large = hn::Gt(a, hn::Set(d, Numbers<D>::kSinhLarge));
    const V e = exp(d, hn::IfThenElse(is_large, hn::Mul(half, a), a));
    const V small = hn::MulAdd(half, e, hn::Div(half, e));
    return hn::IfThenElse(is_large, hn::Mul(hn::Mul(half, e), e), small);
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
