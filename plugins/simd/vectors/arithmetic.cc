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
TENON_CPU_FUNCTION3(Clip, min_propagating_nan(c, max_propagating_nan(b, a)))

// -0 becomes 0, and NaN is propagated.
TENON_CPU_FUNCTION1(Sign, hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Zero(d)),
                                         hn::CopySign(hn::Set(d, 1), x), hn::Add(x, hn::Zero(d))))
// clip(x / 6 + 0.5, 0, 1) * maximum(x, -3).
struct HardSwish {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    const auto number = [d](double value) { return hn::Set(d, static_cast<hn::TFromD<D>>(value)); };
    const V line = hn::Add(hn::Div(x, number(6)), number(0.5));
    const V bounded = min_propagating_nan(max_propagating_nan(line, number(0)), number(1));
    return hn::Mul(max_propagating_nan(x, number(-3)), bounded);
  }
};
// 0 if |x| <= alpha, which is not negative; otherwise x minus the product of beta and x's sign.
struct Shrink {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams& params) const {
    using T = hn::TFromD<D>;
    const V beta = hn::Set(d, static_cast<T>(params.beta));
    const V moved = hn::Sub(x, hn::Xor(beta, hn::And(hn::SignBit(d), x)));
    const auto is_zero = hn::Le(hn::Abs(x), hn::Set(d, static_cast<T>(params.alpha)));
    return hn::IfThenElse(is_zero, hn::Zero(d), moved);
  }
};
struct Lerp {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b, V weight, const SpanParams&) const {
    using T = hn::TFromD<D>;
    const V way = hn::Sub(b, a);
    const V rest = hn::Sub(hn::Set(d, T{1}), weight);
    return hn::IfThenElse(hn::Lt(weight, hn::Set(d, static_cast<T>(0.5))),
                          hn::Add(a, hn::Mul(weight, way)), hn::Sub(b, hn::Mul(way, rest)));
  }
};
// x plus alpha times the product of a and b.
struct AddCMul {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V a, V b, const SpanParams& params) const {
    const V alpha = hn::Set(d, static_cast<hn::TFromD<D>>(params.alpha));
    return hn::Add(x, hn::Mul(alpha, hn::Mul(a, b)));
  }
};

// Changes of signs on the bits of half types.
TENON_CPU_FUNCTION1(NegBits, hn::Xor(x, hn::Set(d, 0x8000)))
TENON_CPU_FUNCTION1(AbsBits, hn::And(x, hn::Set(d, 0x7fff)))
TENON_CPU_FUNCTION2(CopySignBits,
                    hn::Or(hn::And(a, hn::Set(d, 0x7fff)), hn::And(b, hn::Set(d, 0x8000))))

// nextafter on the bits of floats. `kInfinity` is the bits of infinity; larger magnitudes are NaN.
template <int64_t kInfinity>
struct NextAfter {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b, const SpanParams&) const {
    using T = hn::TFromD<D>;
    const V zero = hn::Zero(d), one = hn::Set(d, T{1});
    const V sign = hn::Set(d, std::numeric_limits<T>::min());
    const V infinity = hn::Set(d, static_cast<T>(kInfinity));
    const V magnitude_a = hn::AndNot(sign, a), magnitude_b = hn::AndNot(sign, b);
    // Integers in the order of the floats. Both zeros are mapped to 0.
    const auto negate_if = [](V is_negative, V v)
                               HWY_ATTR { return hn::Sub(hn::Xor(v, is_negative), is_negative); };
    const V place_a = negate_if(hn::BroadcastSignBit(a), magnitude_a);
    const V place_b = negate_if(hn::BroadcastSignBit(b), magnitude_b);
    const V next =
        hn::Add(place_a, hn::IfThenElse(hn::Gt(place_b, place_a), one, hn::Sub(zero, one)));
    const V is_negative = hn::BroadcastSignBit(next);
    V result = hn::Or(negate_if(is_negative, next), hn::And(is_negative, sign));
    result = hn::IfThenElse(hn::Eq(next, zero), hn::And(a, sign), result);
    result =
        hn::IfThenElse(hn::Or(hn::Eq(place_a, place_b), hn::Gt(magnitude_b, infinity)), b, result);
    return hn::IfThenElse(hn::Gt(magnitude_a, infinity), a, result);
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

// NaN is propagated, and -0 becomes 0.
TENON_CPU_FUNCTION1(Relu, hn::IfThenElse(hn::Le(x, hn::Zero(d)), hn::Zero(d), x))
TENON_CPU_FUNCTION1(LeakyRelu,
                    hn::IfThenElse(hn::Lt(x, hn::Zero(d)),
                                   hn::Mul(x, hn::Set(d, static_cast<hn::TFromD<D>>(params.alpha))),
                                   x))

// Defines four table entries of an op that only changes signs: also in half types, which need no
// conversion. Compact builds omit those entries.
#if defined(__EMSCRIPTEN__)
#define TENON_CPU_SIGN_SPANS(kind, op, function) TENON_CPU_SPANS(kind, op, function, kLight)
#else
#define TENON_CPU_SIGN_SPANS(kind, op, function)                               \
  TENON_CPU_SPANS(kind, op, function, kLight),                                 \
      {TENON_OP_##op, TENON_FLOAT16, kind##_span<uint16_t, function##Bits>}, { \
    TENON_OP_##op, TENON_BFLOAT16, kind##_span<uint16_t, function##Bits>       \
  }
#endif

constexpr SpanEntry kArithmetic[] = {
    TENON_CPU_LIGHT_SPANS(binary, 2, add, Add, false),
    TENON_CPU_LIGHT_SPANS(binary, 2, sub, Sub, false),
    TENON_CPU_LIGHT_SPANS(binary, 2, mul, Mul, false),
    TENON_CPU_LIGHT_SPANS(binary, 2, div, Div, false),
    TENON_CPU_LIGHT_SPANS(binary, 2, maximum, Maximum, true),
    TENON_CPU_LIGHT_SPANS(binary, 2, minimum, Minimum, true),
    TENON_CPU_SIGN_SPANS(binary, copysign, CopySign),
    {TENON_OP_nextafter, TENON_FLOAT16, binary_span<int16_t, NextAfter<0x7c00>>},
    {TENON_OP_nextafter, TENON_BFLOAT16, binary_span<int16_t, NextAfter<0x7f80>>},
    {TENON_OP_nextafter, TENON_FLOAT32, binary_span<int32_t, NextAfter<0x7f800000>>},
    {TENON_OP_nextafter, TENON_FLOAT64, binary_span<int64_t, NextAfter<0x7ff0000000000000>>},
    TENON_CPU_SPANS(ternary, fma, Fma, kLight),
    TENON_CPU_LIGHT_SPANS(ternary, 3, clip, Clip, true),
    TENON_CPU_SIGN_SPANS(unary, neg, Neg),
    TENON_CPU_SIGN_SPANS(unary, abs, Abs),
    TENON_CPU_LIGHT_SPANS(unary, 1, square, Square, false),
    TENON_CPU_LIGHT_SPANS(unary, 1, reciprocal, Reciprocal, false),
    TENON_CPU_LIGHT_SPANS(unary, 1, sqrt, Sqrt, false),
    TENON_CPU_LIGHT_SPANS(unary, 1, floor, Floor, true),
    TENON_CPU_LIGHT_SPANS(unary, 1, ceil, Ceil, true),
    TENON_CPU_LIGHT_SPANS(unary, 1, round, Round, true),
    TENON_CPU_LIGHT_SPANS(unary, 1, trunc, Trunc, true),
    TENON_CPU_LIGHT_SPANS(unary, 1, sign, Sign, true),
    TENON_CPU_LIGHT_SPANS(unary, 1, relu, Relu, true),
    TENON_CPU_LIGHT_SPANS(unary, 1, leaky_relu, LeakyRelu, false),
    TENON_CPU_LIGHT_SPANS(unary, 1, hard_swish, HardSwish, false),
    TENON_CPU_LIGHT_SPANS(unary, 1, shrink, Shrink, false),
    TENON_CPU_LIGHT_SPANS(ternary, 3, lerp, Lerp, false),
    TENON_CPU_LIGHT_SPANS(ternary, 3, addcmul, AddCMul, false),
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
