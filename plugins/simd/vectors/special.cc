// Spans of cbrt, erfc and the gamma functions. The core's expansions (core/ops/expansions) explain
// the formulas. Here, fused multiply-adds and exact division make them shorter.

#include "plugins/simd/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/special.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/exp_log-inl.h"
#include "plugins/simd/vectors/functions-inl.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

// A constant of the vector's dtype.
template <class D>
HWY_INLINE hn::Vec<D> constant(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}

// cbrt. With |x| = 8^third z, refines an estimate of the cube root of z by a step of Halley's
// method.
struct Cbrt {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    const V one = hn::Set(d, 1), a = hn::Abs(x);
    const Upscaled<D> up(d, a);
    const Mantissa<D> m(d, up.x);
    const V exponent = hn::Add(m.e, up.e);
    const Nearest<D> third(d, exponent, constant(d, 1.0 / 3));
    const V rest = hn::NegMulAdd(third.n, hn::Set(d, 3), exponent);  // -1, 0 or 1.
    const auto is_above = hn::Gt(rest, hn::Zero(d)), is_below = hn::Lt(rest, hn::Zero(d));
    const auto of_rest = [&](double above, double below) HWY_ATTR {
      return hn::IfThenElse(is_above, constant(d, above),
                            hn::IfThenElse(is_below, constant(d, below), one));
    };
    const V z = hn::Mul(hn::Add(one, m.f), of_rest(2, 0.5));
    const V y = hn::Mul(polynomial(d, m.f, kCbrt<hn::TFromD<D>>),
                        of_rest(0x1.428a2f98d728bp+0, 0x1.965fea53d6e3cp-1));
    const V cube = hn::Mul(hn::Mul(y, y), y);
    const V step = hn::Div(hn::Sub(z, cube), hn::MulAdd(hn::Set(d, 2), cube, z));
    const V of_fraction = hn::MulAdd(y, step, y);
    // The root is normal, so adding to the exponent's bits scales it.
    const hn::RebindToSigned<D> di;
    const auto n = hn::ShiftLeft<Numbers<D>::kFractionBits>(hn::BitCast(di, third.magic));
    const V scaled = hn::BitCast(d, hn::Add(hn::BitCast(di, of_fraction), n));
    const V root = hn::CopySign(scaled, x);
    const auto is_regular = hn::And(hn::Gt(a, hn::Zero(d)), hn::Lt(a, infinity(d)));
    return hn::IfThenElse(is_regular, root, x);
  }
};

// erfc(x) = exp(-x^2) q p(t) with q = 4 / (x + 4) and t = x q / 2 - 1. The rounding error of x^2 is
// compensated.
struct Erfc {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    using C = Numbers<D>;
    const V one = hn::Set(d, 1), four = hn::Set(d, 4);
    const V a = hn::Min(hn::Set(d, C::kErfcZero), hn::Abs(x));
    const V square = hn::Mul(a, a);
    const V excess = exact_neg_mul_add(d, a, a, square);
    const V e = exp(d, hn::Neg(square));
    const V q = hn::Div(four, hn::Add(a, four));
    const V t = hn::MulSub(hn::Mul(hn::Set(d, 0.5), a), q, one);
    const V scaled = hn::Mul(q, polynomial(d, t, kErfc<hn::TFromD<D>>));
    const V right = hn::Mul(hn::MulAdd(e, excess, e), scaled);
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, 2), right), right);
  }
};

// sin(pi r) / pi for |r| <= 1/2.
template <class D, class V>
HWY_INLINE V sin_pi_over_pi(D d, V r) {
  const V z = hn::Mul(r, r);
  return hn::MulAdd(hn::Mul(r, z), polynomial(d, z, kSinPi<hn::TFromD<D>>), r);
}

// Argument reduction of the gamma functions: a = x, or 1 + |x| if x < 1, and the variable t of the
// polynomials, which are valid for a < 4.
template <class D>
struct GammaArgument {
  using V = hn::Vec<D>;
  using M = hn::Mask<D>;
  M is_below_one, is_negative, is_pole, is_inner;
  V a, t, inverse;
  V offset;  // x minus the nearest integer, used for negative x.

  HWY_INLINE GammaArgument(D d, V x) {
    const V one = hn::Set(d, 1), two = hn::Set(d, 2), whole = hn::Round(x);
    is_below_one = hn::Lt(x, one);
    is_negative = hn::Lt(x, hn::Zero(d));
    is_pole = hn::And(is_negative, hn::Eq(whole, x));
    a = hn::IfThenElse(is_below_one, hn::Add(one, hn::Abs(x)), x);
    is_inner = hn::Lt(a, hn::Set(d, 4));
    t = hn::Div(hn::Sub(a, two), hn::Add(a, two));
    inverse = hn::Div(one, a);
    offset = hn::Sub(x, whole);
  }
};

struct Lgamma {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    using T = hn::TFromD<D>;
    const V one = hn::Set(d, 1);
    const GammaArgument<D> g(d, x);
    const V magnitude = hn::Abs(x);
    const V zeros = hn::IfThenElse(g.is_below_one, hn::Mul(magnitude, hn::Sub(magnitude, one)),
                                   hn::Mul(hn::Sub(x, one), hn::Sub(x, hn::Set(d, 2))));
    // Adding 0 makes a negative zero positive.
    const V inner = hn::MulAdd(zeros, polynomial(d, g.t, kLgamma<T>), hn::Zero(d));
    const V tail = polynomial(d, hn::Mul(g.inverse, g.inverse), kStirling<T>);
    const V series = hn::MulAdd(g.inverse, tail, constant(d, 0x1.acfe390c97d69p-2));
    const V outer = hn::MulAdd(hn::Sub(g.a, hn::Set(d, 0.5)), hn::Sub(log(d, g.a), one), series);
    const V of_a = hn::IfThenElse(g.is_inner, inner, outer);

    const V sine = hn::Abs(sin_pi_over_pi(d, g.offset));
    const V pole = log(d, hn::IfThenElse(g.is_negative, sine, x));
    const V below_one = hn::Sub(hn::IfThenElse(g.is_negative, hn::Neg(of_a), of_a), pole);
    const V y = hn::IfThenElse(g.is_below_one, below_one, of_a);
    return hn::IfThenElse(g.is_pole, infinity(d), y);
  }
};

struct Digamma {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    using T = hn::TFromD<D>;
    using C = Numbers<D>;
    const V half = hn::Set(d, 0.5);
    const GammaArgument<D> g(d, x);
    const V from_root =
        hn::Sub(hn::Sub(g.a, hn::Set(d, C::kDigammaRoot[0])), hn::Set(d, C::kDigammaRoot[1]));
    const V inner = hn::Mul(from_root, polynomial(d, g.t, kDigamma<T>));
    const V square = hn::Mul(g.inverse, g.inverse);
    const V tail = polynomial(d, square, kDigammaTail<T>);
    const V series = hn::MulAdd(half, g.inverse, hn::Mul(square, tail));
    const V of_a = hn::IfThenElse(g.is_inner, inner, hn::Sub(log(d, g.a), series));

    // The reflection subtracts pi cot(pi o), where o is the offset from the nearest integer. Near a
    // zero of the function, o is small and ln |x| cancels 1 / o, so that term must be rounded only
    // once: pi cot(pi o) = 1 / o + pi^2 o ((cos r - s) / r^2) / s, where r = pi o, s = sin(r) / r.
    const V one = hn::Set(d, 1);
    const auto is_near = hn::And(g.is_negative, hn::Le(hn::Abs(g.offset), hn::Set(d, 0.25)));
    const V scaled = hn::Mul(constant(d, 0x1.3bd3cc9be45dep+3), g.offset);
    const V z = hn::Mul(scaled, g.offset);
    const V sin_tail = polynomial(d, z, kSin<T>), cos_tail = polynomial(d, z, kCos<T>);
    const V difference = hn::Sub(hn::MulAdd(z, cos_tail, hn::Neg(half)), sin_tail);
    const V small = hn::Mul(scaled, hn::Div(difference, hn::MulAdd(z, sin_tail, one)));
    const V cosine = sin_pi_over_pi(d, hn::Sub(half, hn::Abs(g.offset)));
    const V far = hn::Mul(constant(d, 0x1.921fb54442d18p+1), cosine);
    const V above = hn::IfThenElse(hn::AndNot(is_near, g.is_negative), far, one);
    const V below = hn::IfThenElse(g.is_negative, sin_pi_over_pi(d, g.offset), x);
    const V cotangent = hn::Add(hn::Div(above, hn::IfThenElse(is_near, g.offset, below)),
                                hn::IfThenElseZero(is_near, small));
    const V y = hn::IfThenElse(g.is_below_one, hn::Sub(of_a, cotangent), of_a);
    return hn::IfThenElse(g.is_pole, hn::NaN(d), y);
  }
};

struct Trigamma {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, const SpanParams&) const {
    using T = hn::TFromD<D>;
    const V one = hn::Set(d, 1);
    const GammaArgument<D> g(d, x);
    const V inner = hn::Mul(g.inverse, polynomial(d, g.t, kTrigamma<T>));
    const V tail = polynomial(d, hn::Mul(g.inverse, g.inverse), kTrigammaTail<T>);
    const V series = hn::MulAdd(g.inverse, tail, hn::Set(d, 0.5));
    const V outer = hn::Mul(g.inverse, hn::MulAdd(g.inverse, series, one));
    const V of_a = hn::IfThenElse(g.is_inner, inner, outer);

    const V sine = sin_pi_over_pi(d, g.offset);
    const V pole = hn::Div(one, hn::IfThenElse(g.is_negative, sine, x));
    const V below_one = hn::MulAdd(pole, pole, hn::IfThenElse(g.is_negative, hn::Neg(of_a), of_a));
    const V y = hn::IfThenElse(g.is_below_one, below_one, of_a);
    return hn::IfThenElse(g.is_pole, infinity(d), y);
  }
};

constexpr SpanEntry kSpans[] = {
    TENON_CPU_SPANS(unary, cbrt, Cbrt, kHeavy),
    TENON_CPU_SPANS(unary, erfc, Erfc, kHeavy),
    TENON_CPU_SPANS(unary, lgamma, Lgamma, kHeavy),
    TENON_CPU_SPANS(unary, digamma, Digamma, kHeavy),
    TENON_CPU_SPANS(unary, trigamma, Trigamma, kHeavy),
};

SpanTable special_table() { return {kSpans, sizeof(kSpans) / sizeof(SpanEntry)}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

SpanTable special_function_spans() { return TENON_SIMD_CHOOSE(special_table()); }

}  // namespace tenon_simd
#endif
