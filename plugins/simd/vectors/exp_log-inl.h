// exp, log and functions derived from them, on vectors of float32 or float64. cpu_test.cc measures
// the errors in ulp.
//
// All lanes run the same instructions. In Min and Max the constant comes first, so that NaN
// propagates on every processor.

#if defined(TENON_CPU_EXP_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_EXP_LOG_INL_H_
#undef TENON_CPU_EXP_LOG_INL_H_
#else
#define TENON_CPU_EXP_LOG_INL_H_
#endif

#include <hwy/highway.h>

#include "plugins/simd/vectors/constants.h"
#include "plugins/simd/vectors/wasm_float64-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Numbers = Constants<hn::TFromD<D>>;

// Returns c[0] + c[1] x + c[2] x^2 + ...
template <size_t at = 0, class D, class V, size_t n>
HWY_INLINE V polynomial(D d, V x, const std::array<double, n>& c) {
  const V constant = hn::Set(d, static_cast<hn::TFromD<D>>(c[at]));
  if constexpr (at + 1 == n) {
    return constant;
  } else {
    return hn::MulAdd(polynomial<at + 1>(d, x, c), x, constant);
  }
}

// Returns c - a b, for uses in which the rounding error of the product matters. The result is
// rounded once. In WebAssembly, which has no fused multiply-add, an emulation has a smaller error
// than that rounding.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exact_neg_mul_add([[maybe_unused]] D d, V a, V b, V c) {
#if HWY_TARGET == HWY_WASM
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    // The product of two float32 numbers is exact in float64.
    const hn::Repartition<double, D> dd;
    const hn::Half<D> half;
    const auto low = hn::NegMulAdd(hn::PromoteTo(dd, hn::LowerHalf(half, a)),
                                   hn::PromoteTo(dd, hn::LowerHalf(half, b)),
                                   hn::PromoteTo(dd, hn::LowerHalf(half, c)));
    const auto high = hn::NegMulAdd(hn::PromoteTo(dd, hn::UpperHalf(half, a)),
                                    hn::PromoteTo(dd, hn::UpperHalf(half, b)),
                                    hn::PromoteTo(dd, hn::UpperHalf(half, c)));
    return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
  } else {
    // Dekker's product: splits the factors into halves of 26 bits, whose products are exact. The
    // rounding errors of the product and of the difference are added at the end.
    const V splitter = hn::Set(d, 0x1p27 + 1);
    const auto upper_bits = [&](V v) HWY_ATTR {
      const V scaled = hn::Mul(v, splitter);
      return hn::Sub(scaled, hn::Sub(scaled, v));
    };
    const V a_high = upper_bits(a), b_high = upper_bits(b);
    const V a_low = hn::Sub(a, a_high), b_low = hn::Sub(b, b_high);
    const V product = hn::Mul(a, b);
    V of_product = hn::Sub(hn::Mul(a_high, b_high), product);
    of_product = hn::MulAdd(a_low, b_high, hn::MulAdd(a_high, b_low, of_product));
    of_product = hn::MulAdd(a_low, b_low, of_product);
    const V difference = hn::Sub(c, product);
    const V taken = hn::Sub(c, difference);
    const V of_difference =
        hn::Add(hn::Sub(c, hn::Add(difference, taken)), hn::Sub(taken, product));
    return hn::Add(difference, hn::Sub(of_difference, of_product));
  }
#else
  return hn::NegMulAdd(a, b, c);
#endif
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> infinity(D d) {
  return hn::Set(d, std::numeric_limits<T>::infinity());
}

// The integer n that is nearest to x times a factor: in the low bits of `magic`, and as a float.
template <class D>
struct Nearest {
  using V = hn::Vec<D>;
  V magic;
  V n;
  HWY_INLINE Nearest(D d, V x, V factor) {
    const V k = hn::Set(d, Numbers<D>::kMagic);
    magic = hn::MulAdd(x, factor, k);
    n = hn::Sub(magic, k);
  }
};

// Converts the `magic` of a Nearest to integers.
template <class D>
HWY_INLINE auto integers([[maybe_unused]] D d, hn::Vec<D> magic) {
  const hn::RebindToSigned<D> di;
  return hn::Sub(hn::BitCast(di, magic), hn::Set(di, Numbers<D>::kMagicBits));
}

// Returns 2^n for n in [-bias, bias + 1].
template <class D, class VI>
HWY_INLINE hn::Vec<D> power_of_two(D d, VI n) {
  const hn::RebindToSigned<D> di;
  const auto biased = hn::Add(n, hn::Set(di, Numbers<D>::kBias));
  return hn::BitCast(d, hn::ShiftLeft<Numbers<D>::kFractionBits>(biased));
}

// Returns v * 2^n, computed by two multiplications by normal powers of two, of which only the last
// one rounds.
template <class D>
HWY_INLINE hn::Vec<D> scale(D d, hn::Vec<D> v, hn::Vec<D> magic) {
  const auto n = integers(d, magic);
  const auto half = hn::ShiftRight<1>(n);
  return hn::Mul(hn::Mul(v, power_of_two(d, half)), power_of_two(d, hn::Sub(n, half)));
}

// Returns expm1(r), where x = n ln 2 + r and `nearest` holds n.
template <class D, class V>
HWY_INLINE V expm1_reduced(D d, V x, const Nearest<D>& nearest) {
  using C = Numbers<D>;
  V r = hn::NegMulAdd(nearest.n, hn::Set(d, C::kLn2[0]), x);
  r = hn::NegMulAdd(nearest.n, hn::Set(d, C::kLn2[1]), r);
  return hn::MulAdd(hn::Mul(r, r), polynomial(d, r, kExp<hn::TFromD<D>>), r);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  using C = Numbers<D>;
  const auto vanishes = hn::Lt(x, hn::Set(d, C::kExpLow));
  x = hn::Min(hn::Set(d, C::kExpHigh), hn::Max(hn::Set(d, C::kExpLow), x));
  const Nearest<D> nearest(d, x, hn::Set(d, C::kLog2E));
  const V p = hn::Add(hn::Set(d, 1), expm1_reduced(d, x, nearest));
  // Flushes subnormal results to zero, because a multiplication that underflows takes a hundred
  // times as long as others. Masked logits cause many such results.
  return scale(d, hn::IfThenZeroElse(vanishes, p), nearest.magic);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2(D d, V x) {
  using C = Numbers<D>;
  x = hn::Min(hn::Set(d, C::kExp2High), hn::Max(hn::Set(d, C::kExp2Low), x));
  const Nearest<D> nearest(d, x, hn::Set(d, 1));
  const V r = hn::Sub(x, nearest.n);
  const V p = hn::MulAdd(r, polynomial(d, r, kExp2<hn::TFromD<D>>), hn::Set(d, 1));
  return scale(d, p, nearest.magic);
}

// Returns 2^(n - k), where `nearest` holds n.
template <int k, class D>
HWY_INLINE hn::Vec<D> shifted_power(D d, const Nearest<D>& nearest) {
  const hn::RebindToSigned<D> di;
  return power_of_two(d, hn::Sub(integers(d, nearest.magic), hn::Set(di, k)));
}

// Returns expm1(x) / 2. Multiplies by 2^(n - 1) instead of 2^n, which overflows for some x although
// expm1(x) is finite.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V half_expm1(D d, V x) {
  using C = Numbers<D>;
  x = hn::Min(hn::Set(d, C::kExpHigh), hn::Max(hn::Set(d, C::kExpm1Low), x));
  const Nearest<D> nearest(d, x, hn::Set(d, C::kLog2E));
  const V half_power = shifted_power<1>(d, nearest);
  return hn::MulAdd(expm1_reduced(d, x, nearest), half_power, hn::Sub(half_power, hn::Set(d, 0.5)));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V expm1(D d, V x) {
  const V h = half_expm1(d, x);
  return hn::CopySign(hn::Add(h, h), x);
}

// sigmoid(x), computed from exp(-|x|), which does not overflow and keeps the precision of small
// results.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1);
  const V e = exp(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh(D d, V x) {
  const V a = hn::Min(hn::Set(d, Numbers<D>::kTanhOne), hn::Abs(x));
  const V h = half_expm1(d, hn::Add(a, a));
  return hn::CopySign(hn::Div(h, hn::Add(h, hn::Set(d, 1))), x);
}

// ---- logarithms ------------------------------------------------------------------------------

// Splits u into e and f with u = 2^e (1 + f) and 1 + f in [sqrt(1/2), sqrt(2)).
template <class D>
struct Mantissa {
  using V = hn::Vec<D>;
  using VI = hn::Vec<hn::RebindToSigned<D>>;
  V f;
  V e;
  VI exponent;
  // `u` must be positive and normal.
  HWY_INLINE Mantissa(D d, V u) {
    using C = Numbers<D>;
    const hn::RebindToSigned<D> di;
    const VI bits = hn::BitCast(di, u);
    exponent = hn::ShiftRight<C::kFractionBits>(hn::Sub(bits, hn::Set(di, C::kSqrtHalfBits)));
    const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<C::kFractionBits>(exponent)));
    f = hn::Sub(m, hn::Set(d, 1));
    const V magic = hn::BitCast(d, hn::Add(exponent, hn::Set(di, C::kMagicBits)));
    e = hn::Sub(magic, hn::Set(d, C::kMagic));
  }
};

// Computes h and tail with log(1 + f) = f - (h - tail). The caller can add a small term to `tail`
// before the result is rounded. In float32 a longer polynomial is faster than a division.
template <class D, class V>
HWY_INLINE void log_parts(D d, V f, V& h, V& tail) {
  using T = hn::TFromD<D>;
  const V square = hn::Mul(f, f);
  h = hn::Mul(hn::Set(d, 0.5), square);
  if constexpr (sizeof(T) == 4) {
    tail = hn::Mul(hn::Mul(square, f), polynomial(d, f, kLogFraction<T>));
  } else {
    const V s = hn::Div(f, hn::Add(hn::Set(d, 2), f));
    const V z = hn::Mul(s, s);
    tail = hn::Mul(s, hn::MulAdd(z, polynomial(d, z, kLog<T>), h));
  }
}

// Returns e ln 2 + log(1 + f).
template <class D, class V>
HWY_INLINE V log_sum(D d, V e, V f) {
  using C = Numbers<D>;
  V h, tail;
  log_parts(d, f, h, tail);
  tail = hn::MulAdd(e, hn::Set(d, C::kLn2[1]), tail);
  return hn::MulAdd(e, hn::Set(d, C::kLn2[0]), hn::Sub(f, hn::Sub(h, tail)));
}

// Scales subnormal numbers to normal numbers. `e` is the correction that is added to the exponent.
template <class D>
struct Upscaled {
  using V = hn::Vec<D>;
  V x;
  V e;
  HWY_INLINE Upscaled(D d, V from) {
    using C = Numbers<D>;
    const auto small = hn::Lt(from, hn::Set(d, std::numeric_limits<hn::TFromD<D>>::min()));
    x = hn::IfThenElse(small, hn::Mul(from, hn::Set(d, C::kUpscale)), from);
    e = hn::IfThenElseZero(small, hn::Set(d, -C::kUpscaleLog2));
  }
};

// Returns the logarithm `y` of `u`, or the result of a special case: minus infinity if u is 0, NaN
// if u is negative, and u if it is infinity or NaN.
template <class D, class V>
HWY_INLINE V log_special(D d, V u, V y) {
  const V zero = hn::Zero(d);
  y = hn::IfThenElse(hn::Lt(u, infinity(d)), y, u);
  y = hn::IfThenElse(hn::Eq(u, zero), hn::Neg(infinity(d)), y);
  return hn::IfThenElse(hn::Lt(u, zero), hn::NaN(d), y);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V log(D d, V x) {
  const Upscaled<D> up(d, x);
  const Mantissa<D> m(d, up.x);
  return log_special(d, x, log_sum(d, hn::Add(m.e, up.e), m.f));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V log2(D d, V x) {
  const Upscaled<D> up(d, x);
  const Mantissa<D> m(d, up.x);
  V h, tail;
  log_parts(d, m.f, h, tail);
  const V y = hn::MulAdd(hn::Sub(m.f, hn::Sub(h, tail)), hn::Set(d, Numbers<D>::kLog2E),
                         hn::Add(m.e, up.e));
  return log_special(d, x, y);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V log10(D d, V x) {
  using C = Numbers<D>;
  const Upscaled<D> up(d, x);
  const Mantissa<D> m(d, up.x);
  V h, tail;
  log_parts(d, m.f, h, tail);
  const V e = hn::Add(m.e, up.e);
  const V natural = hn::Sub(m.f, hn::Sub(h, tail));
  V y = hn::MulAdd(natural, hn::Set(d, C::kLog10E[1]), hn::Mul(e, hn::Set(d, C::kLog10Of2[1])));
  y = hn::MulAdd(natural, hn::Set(d, C::kLog10E[0]), y);
  y = hn::MulAdd(e, hn::Set(d, C::kLog10Of2[0]), y);
  return log_special(d, x, y);
}

// log1p(x): the logarithm of u = 1 + x. The rounding error of this sum is added to the fraction.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log1p(D d, V x) {
  using C = Numbers<D>;
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, 1);
  const V u = hn::Add(one, x);
  const Mantissa<D> m(d, u);
  const V lost =
      hn::IfThenElse(hn::Gt(x, one), hn::Sub(one, hn::Sub(u, x)), hn::Sub(x, hn::Sub(u, one)));
  const V shrink =
      hn::BitCast(d, hn::Sub(hn::BitCast(di, one), hn::ShiftLeft<C::kFractionBits>(m.exponent)));
  // For large x, the rounding error is negligible. It is ignored, because `shrink` is not finite
  // for the largest exponent.
  const V correction = hn::IfThenElseZero(hn::Lt(x, hn::Set(d, 0x1p60)), hn::Mul(lost, shrink));
  const V y = log_special(d, u, log_sum(d, m.e, hn::Add(m.f, correction)));
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#endif  // TENON_CPU_EXP_LOG_INL_H_
