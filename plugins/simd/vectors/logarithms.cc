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

// asinh(a) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))), or log(2 a) if a^2 may overflow.
struct Asinh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    using C = Numbers<D>;
    const V one = hn::Set(d, 1);
    const V a = hn::Abs(x);
    const auto is_large = hn::Gt(a, hn::Set(d, C::kSquareLarge));
    const V square = hn::Mul(a, a);
    const V t = hn::Add(a, hn::Div(square, hn::Add(one, hn::Sqrt(hn::Add(square, one)))));
    const V y = log1p(d, hn::IfThenElse(is_large, hn::Sub(a, one), t));
    return hn::CopySign(
        hn::Add(y, hn::IfThenElseZero(is_large, hn::Set(d, C::kLn2[0] + C::kLn2[1]))), x);
  }
};

// acosh(x) = log1p(t + sqrt(2 t + t^2)) with t = x - 1.
struct Acosh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    using C = Numbers<D>;
    const auto is_large = hn::Gt(x, hn::Set(d, C::kSquareLarge));
    const V t = hn::Sub(x, hn::Set(d, 1));
    const V small = hn::Add(t, hn::Sqrt(hn::MulAdd(t, t, hn::Add(t, t))));
    const V y = log1p(d, hn::IfThenElse(is_large, t, small));
    const V sum = hn::Add(y, hn::IfThenElseZero(is_large, hn::Set(d, C::kLn2[0] + C::kLn2[1])));
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, 1)), hn::NaN(d), sum);
  }
};

// atanh(a) = log1p(2 a / (1 - a)) / 2. For small arguments, the quotient is expanded to reduce
// rounding errors.
struct Atanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    const V half = hn::Set(d, 0.5);
    const V a = hn::Abs(x);
    const V twice = hn::Add(a, a);
    const V rest = hn::Sub(hn::Set(d, 1), a);
    const auto is_small = hn::Lt(a, half);
    const V quotient = hn::Div(hn::IfThenElse(is_small, hn::Mul(twice, a), twice), rest);
    const V t = hn::IfThenElse(is_small, hn::Add(twice, quotient), quotient);
    return hn::CopySign(hn::Mul(half, log1p(d, t)), x);
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
