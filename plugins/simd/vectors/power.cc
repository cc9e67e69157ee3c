// Spans of pow, computed as exp2(y log2(|x|)).
//
// float32 is computed in float64, with an error of little more than half an ulp. In float64, the
// logarithm is a sum of two numbers, because y log2(|x|) needs 64 bits. That takes fused
// multiply-adds; targets without them use the C library.

#include <cmath>

#include "plugins/simd/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/power.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/exp_log-inl.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

// Computes a^y for numbers of float32, widened to float64; a must be positive.
template <class D, class V>
HWY_INLINE V widened_power(D d, V a, V y) {
  const hn::RebindToSigned<D> di;
  const Mantissa<D> m(d, a);
  const V s = hn::Div(m.f, hn::Add(hn::Set(d, 2), m.f));
  const V logarithm = hn::MulAdd(s, polynomial(d, hn::Mul(s, s), kPowerLog2<double>), m.e);
  const V limit = hn::Set(d, 200);  // In float32, 2^200 is infinity and 2^-200 is 0.
  const V product = hn::Min(limit, hn::Max(hn::Neg(limit), hn::Mul(y, logarithm)));
  const Nearest<D> nearest(d, product, hn::Set(d, 1));
  const V r = hn::Sub(product, nearest.n);
  const V p = hn::MulAdd(r, polynomial(d, r, kPowerExp2<double>), hn::Set(d, 1));
  const auto n = hn::ShiftLeft<Numbers<D>::kFractionBits>(hn::BitCast(di, nearest.magic));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), n));
}

// An unevaluated sum of two numbers, the second of which is at most half an ulp of the first.
template <class V>
struct Sum {
  V high, low;
};

// Returns a b, computed from the terms that matter.
template <class V>
HWY_INLINE Sum<V> multiply(Sum<V> a, Sum<V> b) {
  const V high = hn::Mul(a.high, b.high);
  const V low = hn::MulAdd(a.high, b.low, hn::MulSub(a.high, b.high, high));
  return {high, hn::MulAdd(a.low, b.high, low)};
}

// Returns a + b, where |a| >= |b| or a is 0.
template <class V>
HWY_INLINE Sum<V> add(V a, Sum<V> b) {
  const V high = hn::Add(a, b.high);
  return {high, hn::Add(hn::Add(hn::Sub(a, high), b.high), b.low)};
}

// Returns log2(a) for positive a.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Sum<V> long_log2(D d, V a) {
  const auto sum = [&](double high, double low) HWY_ATTR {
    return Sum<V>{hn::Set(d, high), hn::Set(d, low)};
  };
  const Upscaled<D> up(d, a);
  const Mantissa<D> m(d, up.x);
  // s = f / (2 + f), then log2(1 + f) = 2 / ln 2 (s + s z / 3 + s z^2 p(z)) with z = s^2.
  const Sum<V> divisor = add(hn::Set(d, 2), Sum<V>{m.f, hn::Zero(d)});
  const V inverse = hn::Div(hn::Set(d, 1), divisor.high);
  Sum<V> s{hn::Mul(m.f, inverse), hn::Zero(d)};
  const V rest = hn::NegMulAdd(s.high, divisor.high, m.f);
  s.low = hn::Mul(hn::NegMulAdd(s.high, divisor.low, rest), inverse);
  const Sum<V> z = multiply(s, s);
  const V tail = hn::Mul(z.high, polynomial(d, z.high, kPowerAtanh<double>));
  Sum<V> third =
      add(hn::Set(d, 0x1.5555555555555p-2), Sum<V>{tail, hn::Set(d, 0x1.5555555555555p-56)});
  const Sum<V> cubic = multiply(s, multiply(z, third));
  Sum<V> series = add(s.high, cubic);
  series.low = hn::Add(series.low, s.low);
  return add(hn::Add(m.e, up.e),
             multiply(series, sum(0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55)));
}

// Computes a^y for positive finite a and finite y.
template <class D, class V>
HWY_INLINE V positive_power(D d, V a, V y) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const hn::Repartition<double, D> dd;
    const hn::Half<D> half;
    const auto low = widened_power(dd, hn::PromoteTo(dd, hn::LowerHalf(half, a)),
                                   hn::PromoteTo(dd, hn::LowerHalf(half, y)));
    const auto high = widened_power(dd, hn::PromoteTo(dd, hn::UpperHalf(half, a)),
                                    hn::PromoteTo(dd, hn::UpperHalf(half, y)));
    return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
  } else {
    using C = Numbers<D>;
    const Sum<V> logarithm = long_log2(d, a);
    const V high = hn::Mul(y, logarithm.high);
    const V low = hn::MulAdd(y, logarithm.low, hn::MulSub(y, logarithm.high, high));
    const V product = hn::Min(hn::Set(d, C::kExp2High), hn::Max(hn::Set(d, C::kExp2Low), high));
    const Nearest<D> nearest(d, product, hn::Set(d, 1));
    const V r =
        hn::Add(hn::Sub(product, nearest.n), hn::IfThenElseZero(hn::Eq(product, high), low));
    const V p = hn::MulAdd(r, polynomial(d, r, kExp2<double>), hn::Set(d, 1));
    return scale(d, p, nearest.magic);
  }
}

// Returns x^y, given `power`, which is |x|^y for x and y that are finite and not 0.
template <class D, class V>
HWY_NOINLINE V special_power(D d, V x, V y, V power) {
  const V zero = hn::Zero(d), one = hn::Set(d, 1), half = hn::Set(d, 0.5);
  const V a = hn::Abs(x), magnitude = hn::Abs(y);
  // |x|^y is 0 or infinite if x is 0 or infinite, or if y is infinite.
  const auto has_limit =
      hn::Or(hn::Or(hn::Eq(a, zero), hn::Eq(a, infinity(d))), hn::Eq(magnitude, infinity(d)));
  const V grows = hn::IfThenElse(hn::Gt(a, one), y, hn::Neg(y));
  const V limit = hn::IfThenElseZero(hn::Gt(grows, zero), infinity(d));
  const V size = hn::IfThenElse(has_limit, limit, power);
  // The sign of x counts for odd y. Floats beyond 2^kFractionBits are integers.
  const V large = hn::Set(d, hn::TFromD<D>(uint64_t{1} << Numbers<D>::kFractionBits));
  const auto is_whole = hn::Or(hn::Ge(magnitude, large), hn::Eq(hn::Round(y), y));
  const V halved = hn::Mul(half, y);
  const auto is_odd = hn::AndNot(
      hn::Or(hn::Ge(magnitude, hn::Add(large, large)), hn::Eq(hn::Round(halved), halved)),
      is_whole);
  V result = hn::IfThenElse(is_odd, hn::CopySign(size, x), size);
  const auto is_complex = hn::AndNot(hn::Or(is_whole, has_limit), hn::Lt(x, zero));
  result = hn::IfThenElse(is_complex, hn::NaN(d), result);
  result = hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::IsNaN(y)), hn::NaN(d), result);
  const auto is_minus_one = hn::And(hn::Eq(x, hn::Neg(one)), hn::Eq(magnitude, infinity(d)));
  return hn::IfThenElse(hn::Or(hn::Or(hn::Eq(x, one), hn::Eq(y, zero)), is_minus_one), one, result);
}

struct Pow {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V y, const SpanParams&) const {
    const V one = hn::Set(d, 1), a = hn::Abs(x);
    const auto is_finite = hn::And(hn::And(hn::Gt(a, hn::Zero(d)), hn::Lt(a, infinity(d))),
                                   hn::Lt(hn::Abs(y), infinity(d)));
    const V power =
        positive_power(d, hn::IfThenElse(is_finite, a, one), hn::IfThenElse(is_finite, y, one));
    const auto is_regular = hn::And(is_finite, hn::Gt(x, hn::Zero(d)));
    if (HWY_LIKELY(hn::AllTrue(d, is_regular))) return power;
    return special_power(d, x, y, power);
  }
};

// The span of pow in float64, computed by the C library.
[[maybe_unused]] void pow_by_library(const void* const* in, const size_t* step, void* out, size_t n,
                                     const SpanParams&) {
  const double* x = static_cast<const double*>(in[0]);
  const double* y = static_cast<const double*>(in[1]);
  double* to = static_cast<double*>(out);
  for (size_t i = 0; i < n; ++i) to[i] = std::pow(x[i * step[0]], y[i * step[1]]);
}

constexpr SpanEntry kSpans[] = {
    {TENON_OP_pow, TENON_FLOAT32, binary_span<float, Pow>, Cost::kHeavy},
#if HWY_NATIVE_FMA
    {TENON_OP_pow, TENON_FLOAT64, binary_span<double, Pow>, Cost::kHeavy},
#else
    {TENON_OP_pow, TENON_FLOAT64, pow_by_library, Cost::kHeavy},
#endif
};

SpanTable power_table() { return {kSpans, sizeof(kSpans) / sizeof(SpanEntry)}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

SpanTable power_spans() { return TENON_SIMD_CHOOSE(power_table()); }

}  // namespace tenon_simd
#endif
