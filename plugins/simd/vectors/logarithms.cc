// Spans of log, of functions based on it, and of the inverse hyperbolic functions.

#include "plugins/simd/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/logarithms.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/exp_log-inl.h"
#include "plugins/simd/vectors/functions-inl.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

TENON_CPU_FUNCTION1(Log, log(d, x))
TENON_CPU_FUNCTION1(Log2, log2(d, x))
TENON_CPU_FUNCTION1(Log10, log10(d, x))
TENON_CPU_FUNCTION1(Log1p, log1p(d, x))
TENON_CPU_FUNCTION1(Rsqrt, hn::Div(hn::Set(d, 1), hn::Sqrt(x)))

// The argument of exp is at most 0, so the exponential does not overflow.
TENON_CPU_FUNCTION1(Softplus,
                    hn::Add(hn::Max(hn::Zero(d), x), log1p(d, exp(d, hn::Neg(hn::Abs(x))))))

// log(exp(a) + exp(b)). Handles equal operands separately, because the difference of equal
// infinities is NaN.
struct LogAddExp {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b, const SpanParams&) const {
    const V most = hn::IfThenElse(hn::Lt(a, b), b, a);
    const V distance = hn::IfThenElse(hn::Eq(a, b), hn::Zero(d), hn::Neg(hn::Abs(hn::Sub(a, b))));
    return hn::Add(most, log1p(d, exp(d, distance)));
  }
};

// Returns log(2^e u) for normal u. Returns u if it is infinity or NaN.
template <class D, class V>
HWY_INLINE V log_of_normal(D d, V u, V e) {
  const Mantissa<D> m(d, u);
  return hn::IfThenElse(hn::Lt(u, infinity(d)), log_sum(d, hn::Add(m.e, e), m.f), u);
}

// asinh(a) = log(a + sqrt(a^2 + 1)), log(2 a) if a^2 may overflow, and a polynomial for small a.
struct Asinh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    const V a = hn::Abs(x);
    const auto is_large = hn::Gt(a, hn::Set(d, Numbers<D>::kSquareLarge));
    const V square = hn::Mul(a, a);
    const V sum = hn::Add(a, hn::Sqrt(hn::Add(square, hn::Set(d, 1))));
    const V outer = log_of_normal(d, hn::IfThenElse(is_large, a, sum),
                                  hn::IfThenElseZero(is_large, hn::Set(d, 1)));
    const V inner = hn::MulAdd(hn::Mul(a, square), polynomial(d, square, kAsinh<hn::TFromD<D>>), a);
    return hn::CopySign(hn::IfThenElse(hn::Lt(a, hn::Set(d, 0.75)), inner, outer), x);
  }
};

// acosh(x) = log(x + sqrt(t (t + 2))) with t = x - 1, log(2 x) if x^2 may overflow, and
// sqrt(2 t) (1 + t p(t)) for small t.
struct Acosh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    const V one = hn::Set(d, 1);
    const auto is_large = hn::Gt(x, hn::Set(d, Numbers<D>::kSquareLarge));
    const V t = hn::Sub(x, one);
    const auto is_small = hn::Lt(t, hn::Set(d, 0.5));
    const V root = hn::Sqrt(hn::MulAdd(t, hn::IfThenZeroElse(is_small, t), hn::Add(t, t)));
    const V outer = log_of_normal(d, hn::IfThenElse(is_large, x, hn::Add(x, root)),
                                  hn::IfThenElseZero(is_large, one));
    const V inner = hn::MulAdd(hn::Mul(root, t), polynomial(d, t, kAcosh<hn::TFromD<D>>), root);
    return hn::IfThenElse(is_small, inner, outer);
  }
};

// atanh(a) = log((1 + a) / (1 - a)) / 2, and a polynomial for small a.
struct Atanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    const V one = hn::Set(d, 1), half = hn::Set(d, 0.5);
    const V a = hn::Abs(x);
    const V square = hn::Mul(a, a);
    const V quotient = hn::Div(hn::Add(one, a), hn::Sub(one, a));
    const V outer = hn::Mul(half, log_of_normal(d, quotient, hn::Zero(d)));
    const V inner = hn::MulAdd(hn::Mul(a, square), polynomial(d, square, kAtanh<hn::TFromD<D>>), a);
    const V y = hn::IfThenElse(hn::Lt(a, half), inner, outer);
    return hn::IfThenElse(hn::Gt(a, one), hn::NaN(d), hn::CopySign(y, x));
  }
};

constexpr SpanEntry kSpans[] = {
    TENON_CPU_SPANS(unary, log, Log, kHeavy),
    TENON_CPU_SPANS(unary, log2, Log2, kHeavy),
    TENON_CPU_SPANS(unary, log10, Log10, kHeavy),
    TENON_CPU_SPANS(unary, log1p, Log1p, kHeavy),
    TENON_CPU_SPANS(unary, rsqrt, Rsqrt, kHeavy),
    TENON_CPU_SPANS(unary, softplus, Softplus, kHeavy),
    TENON_CPU_SPANS(binary, logaddexp, LogAddExp, kHeavy),
    TENON_CPU_SPANS(unary, asinh, Asinh, kHeavy),
    TENON_CPU_SPANS(unary, acosh, Acosh, kHeavy),
    TENON_CPU_SPANS(unary, atanh, Atanh, kHeavy),
};

SpanTable logarithms_table() { return {kSpans, sizeof(kSpans) / sizeof(SpanEntry)}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

SpanTable logarithms_spans() { return TENON_SIMD_CHOOSE(logarithms_table()); }

}  // namespace tenon_simd
#endif
