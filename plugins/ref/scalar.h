// The types that the loops compute in, and conversions to and from them.
//
// In the conformance kit the loops also support binary128 (TENON_SDK_BINARY128).

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
struct Computing {  // Unspecialised: integers and bool.
  using Exact = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  using Wide = uint64_t;  // Wraps, without the undefined overflow of a signed type.
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
struct Computing<__float128> {
  using Exact = __float128;
  using Wide = __float128;
};
#endif

}  // namespace detail

// For ops that NUMERICS calls exact or rounded. Addition, subtraction, multiplication, division and
// square root of float32 and half types are correctly rounded, since double has more than twice
// their bits. For float64 any wider type would round twice.
template <class T>
using Exact = typename detail::Computing<T>::Exact;

// For sums, products and transcendental functions: the next wider type.
template <class T>
using Wide = typename detail::Computing<T>::Wide;

// Exact, except that signed integers are sign-extended if W is unsigned.
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

// Rounds once to a float, and wraps to an integer.
template <class T, class W>
T narrow(W x) {
  if constexpr (std::is_same_v<T, Bool>) {
    return Bool(x != 0);
  } else {
    return static_cast<T>(x);
  }
}

}  // namespace tenon_ref
