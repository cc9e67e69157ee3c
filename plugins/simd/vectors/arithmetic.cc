// Spans of float arithmetic, and of activations that consist of arithmetic only.

#include "plugins/simd/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/arithmetic.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/functions-inl.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

// Returns the maximum. NaN in either operand gives NaN. If the operands are equal, returns the
// second one.
template <class V>
HWY_INLINE V max_propagating_nan(V a, V b) {
#if HWY_ARCH_X86
  // Max() returns b if an operand is NaN or the operands are equal.
  return hn::IfThenElse(hn::IsNaN(a), a, hn::Max(a, b));
#else
  return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::Lt(b, a)), a, b);
#endif
}
// Returns the minimum. NaN in either operand gives NaN. If the operands are equal, returns the
// second one.
template <class V>
HWY_INLINE V min_propagating_nan(V a, V b) {
#if HWY_ARCH_X86
  // Min() returns b if an operand is NaN or the operands are equal.
  return hn::IfThenElse(hn::IsNaN(a), a, hn::Min(a, b));
#else
  return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::Lt(a, b)), a, b);
#endif
}

TENON_CPU_FUNCTION2(Add, hn::Add(a, b))
TENON_CPU_FUNCTION2(Sub, hn::Sub(a, b))
TENON_CPU_FUNCTION2(Mul, hn::Mul(a, b))
TENON_CPU_FUNCTION2(Div, hn::Div(a, b))
TENON_CPU_FUNCTION2(Maximum, max_propagating_nan(a, b))
TENON_CPU_FUNCTION2(Minimum, min_propagating_nan(a, b))
TENON_CPU_FUNCTION3(MaximumMinimum, min_propagating_nan(max_propagating_nan(a, b), c))
TENON_CPU_FUNCTION2(CopySign, hn::CopySign(a, b))
TENON_CPU_FUNCTION3(Fma, hn::MulAdd(a, b, c))

// clip: applies the lower bound before the upper bound. NaN in any operand gives NaN. If x equals a
// bound, returns x.
struct Clip {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V low, V high, const SpanParams&) const {
    V y = hn::IfThenElse(hn::Or(hn::IsNaN(low), hn::Lt(x, low)), low, x);
    y = hn::IfThenElse(hn::Or(hn::IsNaN(high), hn::Lt(high, y)), high, y);
    return hn::IfThenElse(hn::IsNaN(x), x, y);
  }
};

TENON_CPU_FUNCTION1(Neg, hn::Neg(x))
TENON_CPU_FUNCTION1(Abs, hn::Abs(x))
TENON_CPU_FUNCTION1(Square, hn::Mul(x, x))
TENON_CPU_FUNCTION1(Reciprocal, hn::Div(hn::Set(d, 1), x))
TENON_CPU_FUNCTION1(Sqrt, hn::Sqrt(x))
TENON_CPU_FUNCTION1(Floor, hn::Floor(x))
TENON_CPU_FUNCTION1(Ceil, hn::Ceil(x))
TENON_CPU_FUNCTION1(Round, hn::Round(x))
TENON_CPU_FUNCTION1(Trunc, hn::Trunc(x))

// -0 becomes 0, and NaN is propagated.
TENON_CPU_FUNCTION1(Sign, hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Zero(d)),
                                         hn::CopySign(hn::Set(d, 1), x), hn::Add(x, hn::Zero(d))))
// NaN is propagated, and -0 becomes 0.
TENON_CPU_FUNCTION1(Relu, hn::IfThenElse(hn::Le(x, hn::Zero(d)), hn::Zero(d), x))
TENON_CPU_FUNCTION1(LeakyRelu,
                    hn::IfThenElse(hn::Lt(x, hn::Zero(d)),
                                   hn::Mul(x, hn::Set(d, static_cast<hn::TFromD<D>>(params.alpha))),
                                   x))

constexpr SpanEntry kArithmetic[] = {
    TENON_CPU_SPANS(binary, add, Add, kLight),
    TENON_CPU_SPANS(binary, sub, Sub, kLight),
    TENON_CPU_SPANS(binary, mul, Mul, kLight),
    TENON_CPU_SPANS(binary, div, Div, kLight),
    TENON_CPU_SPANS(binary, maximum, Maximum, kLight),
    TENON_CPU_SPANS(binary, minimum, Minimum, kLight),
    TENON_CPU_SPANS(binary, copysign, CopySign, kLight),
    TENON_CPU_SPANS(ternary, fma, Fma, kLight),
    TENON_CPU_SPANS(ternary, clip, Clip, kLight),
    TENON_CPU_SPANS(unary, neg, Neg, kLight),
    TENON_CPU_SPANS(unary, abs, Abs, kLight),
    TENON_CPU_SPANS(unary, square, Square, kLight),
    TENON_CPU_SPANS(unary, reciprocal, Reciprocal, kLight),
    TENON_CPU_SPANS(unary, sqrt, Sqrt, kLight),
    TENON_CPU_SPANS(unary, floor, Floor, kLight),
    TENON_CPU_SPANS(unary, ceil, Ceil, kLight),
    TENON_CPU_SPANS(unary, round, Round, kLight),
    TENON_CPU_SPANS(unary, trunc, Trunc, kLight),
    TENON_CPU_SPANS(unary, sign, Sign, kLight),
    TENON_CPU_SPANS(unary, relu, Relu, kLight),
    TENON_CPU_SPANS(unary, leaky_relu, LeakyRelu, kLight),
};

Span maximum_minimum_of(tenon_dtype dtype) {
  if (dtype == TENON_FLOAT32) return ternary_span<float, MaximumMinimum>;
  return dtype == TENON_FLOAT64 ? ternary_span<double, MaximumMinimum> : nullptr;
}

SpanTable arithmetic_table() { return {kArithmetic, sizeof(kArithmetic) / sizeof(SpanEntry)}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

SpanTable arithmetic_spans() { return TENON_SIMD_CHOOSE(arithmetic_table()); }
Span maximum_minimum_span(tenon_dtype dtype) {
  return TENON_SIMD_CHOOSE(maximum_minimum_of(dtype));
}

}  // namespace tenon_simd
#endif
