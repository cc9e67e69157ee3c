// Spans of exp and of activations based on it.

#include "plugins/simd/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/exponentials.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/exp_log-inl.h"
#include "plugins/simd/vectors/functions-inl.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

TENON_CPU_FUNCTION1(Exp, exp(d, x))
TENON_CPU_FUNCTION1(Exp2, exp2(d, x))
TENON_CPU_FUNCTION1(Expm1, expm1(d, x))
TENON_CPU_FUNCTION1(Sigmoid, sigmoid(d, x))
TENON_CPU_FUNCTION1(Tanh, tanh(d, x))
TENON_CPU_FUNCTION1(Silu, hn::Mul(x, sigmoid(d, x)))
TENON_CPU_FUNCTION2(Glu, hn::Mul(a, sigmoid(d, b)))
TENON_CPU_FUNCTION2(Swiglu, hn::Mul(hn::Mul(a, sigmoid(d, a)), b))

struct Elu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams& params) const {
    const V alpha = hn::Set(d, static_cast<hn::TFromD<D>>(params.alpha));
    const V below = hn::Mul(alpha, expm1(d, hn::Min(hn::Zero(d), x)));
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, below);
  }
};

constexpr SpanEntry kSpans[] = {
    TENON_CPU_SPANS(unary, exp, Exp, kHeavy),
    TENON_CPU_SPANS(unary, exp2, Exp2, kHeavy),
    TENON_CPU_SPANS(unary, expm1, Expm1, kHeavy),
    TENON_CPU_SPANS(unary, sigmoid, Sigmoid, kHeavy),
    TENON_CPU_SPANS(unary, tanh, Tanh, kHeavy),
    TENON_CPU_SPANS(unary, silu, Silu, kHeavy),
    TENON_CPU_SPANS(unary, elu, Elu, kHeavy),
    TENON_CPU_SPANS(binary, glu, Glu, kHeavy),
    TENON_CPU_SPANS(binary, swiglu, Swiglu, kHeavy),
};

SpanTable exponentials_table() { return {kSpans, sizeof(kSpans) / sizeof(SpanEntry)}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

SpanTable exponentials_spans() { return TENON_SIMD_CHOOSE(exponentials_table()); }

}  // namespace tenon_simd
#endif
