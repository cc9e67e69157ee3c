// C++ types for the dtypes, among them float16, bfloat16 and a bool that occupies one byte.
// dispatch() calls a template with the C++ type of a tenon_dtype.

#pragma once

#include <tenon/plugin.h>

#include <cmath>
#include <cstring>
#include <type_traits>

namespace tenon_sdk {

namespace detail {

// Returns the bits of a float.
inline uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
// Returns the float with these bits.
inline float float_of(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Rounds to odd: an inexact result is the neighbouring float whose last significand bit is 1.
// Rounding that result again, to a type with at least two fewer significand bits, gives the same
// value as rounding `x` once.
template <class Wide>
float round_to_odd(Wide x) {
  const float nearest = static_cast<float>(x);
  const uint32_t bits = bits_of(nearest);
  if (static_cast<Wide>(nearest) == x || x != x || (bits & 1) != 0) return nearest;
  const bool above = std::fabs(static_cast<Wide>(nearest)) > std::fabs(x);
  return float_of(above ? bits - 1 : bits + 1);
}

}  // namespace detail

// Returns the bits of `x` rounded to float16, ties to even; every NaN becomes a quiet NaN.
inline uint16_t half_bits(float x) {
  const uint32_t bits = detail::bits_of(x);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;
  } else if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity.
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) {
    // Below 2^-14, half values are multiples of 2^-24. That is the spacing of floats in [0.5, 1),
    // so adding 0.5 rounds to such a multiple.
    half = detail::bits_of(detail::float_of(magnitude) + 0.5f) - detail::bits_of(0.5f);
  } else {
    magnitude += 0xfffu + ((magnitude >> 13) & 1);
    half = (magnitude - 0x38000000u) >> 13;
  }
  return static_cast<uint16_t>(sign | half);
}

// Returns the value of the float16 with these bits.
inline float half_value(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  if (exponent == 31) return detail::float_of(sign | 0x7f800000u | (fraction << 13));
  return detail::float_of(sign | ((exponent + 112) << 23) | (fraction << 13));
}

// Returns the bits of `x` rounded to bfloat16, ties to even; every NaN becomes a quiet NaN.
inline uint16_t bfloat16_bits(float x) {
  const uint32_t bits = detail::bits_of(x);
  if (x != x) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

// Returns the value of the bfloat16 with these bits.
inline float bfloat16_value(uint16_t bits) {
  return detail::float_of(static_cast<uint32_t>(bits) << 16);
}

// float16 or bfloat16, stored as 16 bits. Conversion from a wider float rounds once.
template <uint16_t (*to_bits)(float), float (*to_float)(uint16_t)>
struct SmallFloat {
  uint16_t bits = 0;

  SmallFloat() = default;
  explicit SmallFloat(float x) : bits(to_bits(x)) {}
  template <class Wide>
  requires(std::is_floating_point_v<Wide> &&
           sizeof(Wide) > sizeof(float)) explicit SmallFloat(Wide x)
      : bits(to_bits(detail::round_to_odd(x))) {}
  // An integer is rounded once if long double is wider than double: it then represents every 64-bit
  // integer exactly.
  template <class Int>
  requires(std::is_integral_v<Int>) explicit SmallFloat(Int x)
      : SmallFloat(static_cast<long double>(x)) {}

  operator float() const { return to_float(bits); }
};
using Half = SmallFloat<half_bits, half_value>;
using BFloat16 = SmallFloat<bfloat16_bits, bfloat16_value>;

// A byte of a bool tensor: 0 is false, every other value true. Reading a byte other than 0 or 1 as
// C++ `bool` would be undefined behaviour.
struct Bool {
  uint8_t byte = 0;

  Bool() = default;
  explicit Bool(bool value) : byte(value ? 1 : 0) {}
  operator bool() const { return byte != 0; }
};

template <class T>
inline constexpr tenon_dtype kDTypeOf = TENON_DTYPE_NONE;
template <>
inline constexpr tenon_dtype kDTypeOf<Bool> = TENON_BOOL;
template <>
inline constexpr tenon_dtype kDTypeOf<int8_t> = TENON_INT8;
template <>
inline constexpr tenon_dtype kDTypeOf<int16_t> = TENON_INT16;
template <>
inline constexpr tenon_dtype kDTypeOf<int32_t> = TENON_INT32;
template <>
inline constexpr tenon_dtype kDTypeOf<int64_t> = TENON_INT64;
template <>
inline constexpr tenon_dtype kDTypeOf<uint8_t> = TENON_UINT8;
template <>
inline constexpr tenon_dtype kDTypeOf<uint16_t> = TENON_UINT16;
template <>
inline constexpr tenon_dtype kDTypeOf<uint32_t> = TENON_UINT32;
template <>
inline constexpr tenon_dtype kDTypeOf<uint64_t> = TENON_UINT64;
template <>
inline constexpr tenon_dtype kDTypeOf<Half> = TENON_FLOAT16;
template <>
inline constexpr tenon_dtype kDTypeOf<BFloat16> = TENON_BFLOAT16;
template <>
inline constexpr tenon_dtype kDTypeOf<float> = TENON_FLOAT32;
template <>
inline constexpr tenon_dtype kDTypeOf<double> = TENON_FLOAT64;

// Returns the size of an element in bytes.
inline size_t size_of(tenon_dtype dtype) {
  return static_cast<size_t>(TENON_DTYPE_BITS(dtype)) * TENON_DTYPE_LANES(dtype) / 8;
}

// binary128, for the oracle of the conformance kit. Defined only if the compiler has such a type.
#if defined(TENON_SDK_BINARY128)
#if __LDBL_MANT_DIG__ == 113
using Binary128 = long double;
#else
using Binary128 = __float128;
#endif
template <>
inline constexpr tenon_dtype kDTypeOf<Binary128> = TENON_FLOAT128;
#endif

template <class T>
inline constexpr bool kIsFloat =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool kIsInt = std::is_integral_v<T>;

template <class... T>
struct Types {};
#if defined(TENON_SDK_BINARY128)
using WideFloats = Types<float, double, Binary128>;
using Floats = Types<Half, BFloat16, float, double, Binary128>;
#else
using WideFloats = Types<float, double>;
using Floats = Types<Half, BFloat16, float, double>;
#endif
using Ints = Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;

namespace detail {
template <class... A, class... B>
Types<A..., B...> join(Types<A...>, Types<B...>);
}  // namespace detail
using Numbers = decltype(detail::join(Floats{}, Ints{}));
using Any = decltype(detail::join(Types<Bool>{}, Numbers{}));

template <class T>
struct Type {
  using type = T;
};

namespace detail {
template <class Result, class F>
Result dispatch(Types<>, tenon_dtype, F&&) {
  return Result();
}
template <class Result, class T, class... Rest, class F>
Result dispatch(Types<T, Rest...>, tenon_dtype dtype, F&& f) {
  if (dtype == kDTypeOf<T>) return f(Type<T>{});
  return dispatch<Result>(Types<Rest...>{}, dtype, f);
}
// The first type of a list, for use in decltype only.
template <class T, class... Rest>
Type<T> first_of(Types<T, Rest...>);
}  // namespace detail

// Calls f(Type<T>{}) with the type T of `List` that corresponds to `dtype`, and returns its result.
// Returns a default-constructed result if the list has no such type.
//
//   dispatch<Floats>(dtype, [&]<class T>(Type<T>) { ... });
template <class List, class F>
auto dispatch(tenon_dtype dtype, F&& f) {
  using Result = decltype(f(decltype(detail::first_of(List{})){}));
  return detail::dispatch<Result>(List{}, dtype, f);
}

// An element of `size` bytes that is copied but not interpreted.
template <size_t size>
struct Raw {
  unsigned char bytes[size] = {};
};

// Calls f(Type<Raw<n>>{}), where n is the size in bytes of the dtype's elements.
template <class F>
auto dispatch_size(tenon_dtype dtype, F&& f) {
  switch (size_of(dtype)) {
    case 1:
      return f(Type<Raw<1>>{});
    case 2:
      return f(Type<Raw<2>>{});
    case 4:
      return f(Type<Raw<4>>{});
    case 8:
      return f(Type<Raw<8>>{});
    case 16:
      return f(Type<Raw<16>>{});
    default:
      return decltype(f(Type<Raw<1>>{}))();
  }
}

}  // namespace tenon_sdk
