// Trigonometric functions and their inverses on vectors of float32 or float64.

#if defined(TENON_CPU_TRIG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_TRIG_INL_H_
#undef TENON_CPU_TRIG_INL_H_
#else
#define TENON_CPU_TRIG_INL_H_
#endif

#include <cmath>

#include "plugins/simd/vectors/exp_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

// Argument reduction x = n pi/2 + r: computes n, and the sine and the cosine of r.
template <class D>
struct Quadrant {
  using V = hn::Vec<D>;
  V sin, cos;
  hn::Vec<hn::RebindToSigned<D>> n;
  HWY_INLINE Quadrant(D d, V x) {
    using C = Numbers<D>;
    using T = hn::TFromD<D>;
    const Nearest<D> nearest(d, x, hn::Set(d, C::kTwoOverPi));
    n = integers(d, nearest.magic);
    // The first step is exact, and each following step changes at most the last bit of r by
    // rounding.
    V r = exact_neg_mul_add(d, nearest.n, hn::Set(d, C::kHalfPi[0]), x);
    r = exact_neg_mul_add(d, nearest.n, hn::Set(d, C::kHalfPi[1]), r);
    r = exact_neg_mul_add(d, nearest.n, hn::Set(d, C::kHalfPi[2]), r);
    const V z = hn::Mul(r, r);
    sin = hn::MulAdd(hn::Mul(r, z), polynomial(d, z, kSin<T>), r);
    cos = hn::MulAdd(hn::Mul(z, z), polynomial(d, z, kCos<T>),
                     hn::NegMulAdd(z, hn::Set(d, 0.5), hn::Set(d, 1)));
  }
  // Whether n is odd, for each lane.
  HWY_INLINE hn::Mask<D> is_odd(D d) const {
    const hn::RebindToSigned<D> di;
    return hn::MaskFromVec(
        hn::BitCast(d, hn::VecFromMask(di, hn::Ne(hn::And(n, hn::Set(di, 1)), hn::Zero(di)))));
  }
  // Returns the sign bit if bit 1 of `k` is set, otherwise 0.
  template <class VI>
  static HWY_INLINE V sign_of(D d, VI k) {
    const hn::RebindToSigned<D> di;
    constexpr int kShift = static_cast<int>(sizeof(hn::TFromD<D>)) * 8 - 2;
    return hn::BitCast(d, hn::ShiftLeft<kShift>(hn::And(k, hn::Set(di, 2))));
  }
};

// Recomputes lanes outside the range of the argument reduction by the C library in double. Such
// lanes are rare.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V recompute_large_lanes(D d, V x, V y, double (*function)(double)) {
  using T = hn::TFromD<D>;
  const auto fits = hn::Le(hn::Abs(x), hn::Set(d, Numbers<D>::kTrigLarge));
  if (HWY_LIKELY(hn::AllTrue(d, fits))) return y;
  HWY_ALIGN T from[hn::MaxLanes(d)], to[hn::MaxLanes(d)];
  hn::Store(x, d, from);
  hn::Store(y, d, to);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (!(std::fabs(from[i]) <= Numbers<D>::kTrigLarge)) {
      to[i] = static_cast<T>(function(static_cast<double>(from[i])));
    }
  }
  return hn::Load(d, to);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sin(D d, V x) {
  const Quadrant<D> q(d, x);
  const V y = hn::Xor(hn::IfThenElse(q.is_odd(d), q.cos, q.sin), q.sign_of(d, q.n));
  // Returns zeros unchanged, because the reduction would lose the sign of -0.
  return recompute_large_lanes(d, x, hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y), &std::sin);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V cos(D d, V x) {
  const hn::RebindToSigned<D> di;
  const Quadrant<D> q(d, x);
  const auto next = hn::Add(q.n, hn::Set(di, 1));
  const V y = hn::Xor(hn::IfThenElse(q.is_odd(d), q.sin, q.cos), q.sign_of(d, next));
  return recompute_large_lanes(d, x, y, &std::cos);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V tan(D d, V x) {
  const Quadrant<D> q(d, x);
  const auto odd = q.is_odd(d);
  const V y =
      hn::Div(hn::IfThenElse(odd, q.cos, q.sin), hn::IfThenElse(odd, hn::Neg(q.sin), q.cos));
  return recompute_large_lanes(d, x, hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y), &std::tan);
}

// The arc sine of `a`. Arguments above 1/2 are reduced by
// asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
template <class D>
struct ArcSine {
  using V = hn::Vec<D>;
  hn::Mask<D> is_large;
  V s, tail;  // The arc sine of the reduced argument is s + tail.
  V lost;     // The rounding error of the square root.
  HWY_INLINE ArcSine(D d, V a) {
    const V half = hn::Set(d, 0.5);
    is_large = hn::Gt(a, half);
    const V small_z = hn::Mul(a, a);
    const V large_z = hn::NegMulAdd(half, a, half);
    const V root = hn::Sqrt(large_z);
    const V z = hn::IfThenElse(is_large, large_z, small_z);
    s = hn::IfThenElse(is_large, root, a);
    tail = hn::Mul(hn::Mul(s, z), polynomial(d, z, kAsin<hn::TFromD<D>>));
    const V rest = exact_neg_mul_add(d, root, root, large_z);
    lost = hn::IfThenElseZero(hn::And(is_large, hn::Gt(root, hn::Zero(d))),
                              hn::Div(rest, hn::Add(root, root)));
  }
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE V asin(D d, V x) {
  using C = Numbers<D>;
  const ArcSine<D> arc(d, hn::Abs(x));
  const V small = hn::Add(arc.s, arc.tail);
  const V correction =
      hn::Sub(hn::Set(d, C::kHalfPi[1]), hn::Mul(hn::Set(d, 2), hn::Add(arc.tail, arc.lost)));
  const V large =
      hn::Add(hn::NegMulAdd(hn::Set(d, 2), arc.s, hn::Set(d, C::kHalfPi[0])), correction);
  return hn::CopySign(hn::IfThenElse(arc.is_large, large, small), x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V acos(D d, V x) {
  using C = Numbers<D>;
  const V a = hn::Abs(x);
  const ArcSine<D> arc(d, a);
  const auto negative = hn::Lt(x, hn::Zero(d));
  const V signed_s = hn::CopySign(arc.s, x), signed_tail = hn::CopySign(arc.tail, x);
  const V small = hn::Sub(hn::Set(d, C::kHalfPi[0]),
                          hn::Add(signed_s, hn::Sub(signed_tail, hn::Set(d, C::kHalfPi[1]))));
  const V twice = hn::Mul(hn::Set(d, 2), hn::Add(arc.s, hn::Add(arc.tail, arc.lost)));
  const V pi = hn::Set(d, 2 * C::kHalfPi[0]);
  const V pi_low = hn::Set(d, 2 * C::kHalfPi[1]);
  const V large = hn::IfThenElse(negative, hn::Add(hn::Sub(pi, twice), pi_low), twice);
  return hn::IfThenElse(arc.is_large, large, small);
}

// The arc tangent of t in [0, 1].
template <class D, class V>
HWY_INLINE V atan_reduced(D d, V t) {
  const V z = hn::Mul(t, t);
  return hn::MulAdd(hn::Mul(t, z), polynomial(d, z, kAtan<hn::TFromD<D>>), t);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V atan(D d, V x) {
  using C = Numbers<D>;
  const V one = hn::Set(d, 1);
  const V a = hn::Abs(x);
  const auto is_large = hn::Gt(a, one);
  const V y =
      atan_reduced(d, hn::Div(hn::IfThenElse(is_large, one, a), hn::IfThenElse(is_large, a, one)));
  const V rest = hn::Add(hn::Sub(hn::Set(d, C::kHalfPi[0]), y), hn::Set(d, C::kHalfPi[1]));
  return hn::CopySign(hn::IfThenElse(is_large, rest, y), x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V atan2(D d, V y, V x) {
  using C = Numbers<D>;
  const V a = hn::Abs(y), b = hn::Abs(x);
  const auto steep = hn::Gt(a, b);
  const V small = hn::IfThenElse(steep, b, a), large = hn::IfThenElse(steep, a, b);
  V t = hn::Div(small, large);
  t = hn::IfThenElse(hn::Eq(large, hn::Zero(d)), large, t);          // 0 / 0
  t = hn::IfThenElse(hn::Eq(small, infinity(d)), hn::Set(d, 1), t);  // inf / inf
  V angle = atan_reduced(d, t);
  const V half_pi = hn::Set(d, C::kHalfPi[0]), half_pi_low = hn::Set(d, C::kHalfPi[1]);
  angle = hn::IfThenElse(steep, hn::Add(hn::Sub(half_pi, angle), half_pi_low), angle);
  const V two = hn::Set(d, 2);
  const V mirrored = hn::MulAdd(two, half_pi_low, hn::Sub(hn::Mul(two, half_pi), angle));
  const hn::RebindToSigned<D> di;
  const auto negative = hn::MaskFromVec(
      hn::BitCast(d, hn::VecFromMask(di, hn::Lt(hn::BitCast(di, x), hn::Zero(di)))));
  angle = hn::IfThenElse(negative, mirrored, angle);
  angle = hn::CopySign(angle, y);
  return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::IsNaN(y)), hn::Add(x, y), angle);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#endif  // TENON_CPU_TRIG_INL_H_
