// Adds float64 to Highway's target WASM, which lacks it before version 1.1. Headers that use
// Highway include this file after highway.h. It is empty for other targets.

#pragma once

#include <hwy/highway.h>

#if HWY_TARGET == HWY_WASM && !HWY_HAVE_FLOAT64

#include <wasm_simd128.h>

HWY_BEFORE_NAMESPACE();
namespace hwy {
namespace HWY_NAMESPACE {

template <size_t N, HWY_IF_LE128(double, N)>
HWY_API Vec128<double, N> Set(Simd<double, N, 0>, const double x) {
  return {wasm_f64x2_splat(x)};
}

// Highway has a GetLane() for these vectors, but it returns the bits as an integer.
template <size_t N>
HWY_API double GetLane(Vec128<double, N> v) {
  return wasm_f64x2_extract_lane(v.raw, 0);
}

#define TENON_WASM_UNARY(name, instruction)             \
  template <size_t N>                                   \
  HWY_API Vec128<double, N> name(Vec128<double, N> v) { \
    return {wasm_f64x2_##instruction(v.raw)};           \
  }
#define TENON_WASM_BINARY(name, instruction)                                 \
  template <size_t N>                                                        \
  HWY_API Vec128<double, N> name(Vec128<double, N> a, Vec128<double, N> b) { \
    return {wasm_f64x2_##instruction(a.raw, b.raw)};                         \
  }
#define TENON_WASM_COMPARISON(name, instruction)                              \
  template <size_t N>                                                         \
  HWY_API Mask128<double, N> name(Vec128<double, N> a, Vec128<double, N> b) { \
    return {wasm_f64x2_##instruction(a.raw, b.raw)};                          \
  }

TENON_WASM_UNARY(Abs, abs)
TENON_WASM_UNARY(Sqrt, sqrt)
TENON_WASM_UNARY(Round, nearest)
TENON_WASM_UNARY(Trunc, trunc)
TENON_WASM_UNARY(Ceil, ceil)
TENON_WASM_UNARY(Floor, floor)
TENON_WASM_BINARY(operator+, add)
TENON_WASM_BINARY(operator-, sub)
TENON_WASM_BINARY(operator*, mul)
TENON_WASM_BINARY(operator/, div)
TENON_WASM_COMPARISON(operator==, eq)
TENON_WASM_COMPARISON(operator!=, ne)
TENON_WASM_COMPARISON(operator<, lt)
TENON_WASM_COMPARISON(operator>, gt)
TENON_WASM_COMPARISON(operator<=, le)
TENON_WASM_COMPARISON(operator>=, ge)

#undef TENON_WASM_UNARY
#undef TENON_WASM_BINARY
#undef TENON_WASM_COMPARISON

// Return the second operand unless the first one is less (Min) or greater (Max), as for float32.
template <size_t N>
HWY_API Vec128<double, N> Min(Vec128<double, N> a, Vec128<double, N> b) {
  return {wasm_f64x2_pmin(b.raw, a.raw)};
}
template <size_t N>
HWY_API Vec128<double, N> Max(Vec128<double, N> a, Vec128<double, N> b) {
  return {wasm_f64x2_pmax(b.raw, a.raw)};
}

template <size_t N>
HWY_API Vec128<double, N> MulAdd(Vec128<double, N> a, Vec128<double, N> b, Vec128<double, N> c) {
  return a * b + c;
}
template <size_t N>
HWY_API Vec128<double, N> NegMulAdd(Vec128<double, N> a, Vec128<double, N> b, Vec128<double, N> c) {
  return c - a * b;
}
template <size_t N>
HWY_API Vec128<double, N> MulSub(Vec128<double, N> a, Vec128<double, N> b, Vec128<double, N> c) {
  return a * b - c;
}

template <size_t N, HWY_IF_LE128(double, N)>
HWY_API Vec128<double, N> PromoteTo(Simd<double, N, 0>, Vec128<float, N> v) {
  return {wasm_f64x2_promote_low_f32x4(v.raw)};
}
template <size_t N>
HWY_API Vec128<float, N> DemoteTo(Simd<float, N, 0>, Vec128<double, N> v) {
  return {wasm_f32x4_demote_f64x2_zero(v.raw)};
}

}  // namespace HWY_NAMESPACE
}  // namespace hwy
HWY_AFTER_NAMESPACE();

#endif
