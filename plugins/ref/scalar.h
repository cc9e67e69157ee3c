// The C++ types in which the loops compute, and conversions to and from them.
//
// In the conformance kit (TENON_SDK_BINARY128), the loops also support binary128.

#pragma once

#include <cmath>
#include <type_traits>

#include "plugins/sdk/dtype.h"

namespace tenon_ref {

using tenon_sdk::BFloat16;
using tenon_sdk::Bool;
using tenon_sdk::Half;
using tenon_sdk::kIsFloat;
using tenon_sdk::Type;

namespace detail {

template <class T>
struct Computing {  // The primary template: integers and bool.
  using Exact = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  using Wide = uint64_t;  // Unsigned, so that overflow wraps and is not undefined.
};
template <>
struct Computing<Half> {
  using Exact = double;
  using Wide = double;
};
template <>
struct Computing<BFloat16> {
  using Exact = double;
  using Wide = double;
};
template <>
struct Computing<float> {
  using Exact = double;
  using Wide = double;
};
template <>
struct Computing<double> {
  using Exact = double;
  using Wide = long double;
};
#if defined(TENON_SDK_BINARY128)
template <>
struct Computing<tenon_sdk::Binary128> {
  using Exact = tenon_sdk::Binary128;
  using Wide = tenon_sdk::Binary128;
};
#endif

}  // namespace detail

// The type for ops that docs/numerics.md calls exact or rounded. For float32 and half types it is
// double, which has more than twice their significand bits. Rounding a double result therefore
// gives the correctly rounded sum, difference, product, quotient or square root. For float64 it is
// double itself, because long double has less than twice the significand bits of double.
template <class T>
using Exact = typename detail::Computing<T>::Exact;

// The type for sums, products and transcendental functions: the next wider float, or uint64_t for
// integers.
template <class T>
using Wide = typename detail::Computing<T>::Wide;

// Converts to W without loss. A signed integer is sign-extended if W is unsigned.
template <class W, class T>
W widen(T x) {
  if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<W>(x.byte != 0 ? 1 : 0);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<W>(x);
  } else if constexpr (sizeof(T) >= sizeof(double)) {
    return static_cast<W>(x);
  } else {
    return static_cast<W>(static_cast<float>(x));
  }
}

// Converts to T: rounds once if T is a float, and wraps if T is an integer.
template <class T, class W>
T narrow(W x) {
  if constexpr (std::is_same_v<T, Bool>) {
    return Bool(x != 0);
  } else {
    return static_cast<T>(x);
  }
}

}  // namespace tenon_ref
