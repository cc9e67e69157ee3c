// cast: from every dtype to every other.
//
// Floats are truncated to integers and saturate; NaN becomes 0. Half types convert through float32,
// except if that would round twice.

#include <cmath>
#include <limits>

#include "plugins/simd/kernels/loops.h"

namespace tenon_simd {
namespace {

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, Bool>) {
    return Bool(x != From());
  } else if constexpr (tenon_sdk::kIsFloat<From> && tenon_sdk::kIsInt<To>) {
    // The largest integer plus one is a power of two, so the float type represents it exactly.
    constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
    const From beyond = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    if (x != x) return 0;
    if (x >= beyond) return std::numeric_limits<To>::max();
    return x <= low ? std::numeric_limits<To>::min() : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

// Returns the span that converts elements of dtype `from` to type To.
template <class To>
Span to_span(tenon_dtype from) {
  return dispatch<SpanAny>(from, []<class From>(Type<From>) {
    return unary_loop<From, To>([](From x) { return convert<To>(x); });
  });
}

// Returns the span that converts directly to the half type To; NULL unless `from` has more
// significant bits than float32.
template <class To>
Span to_half_span(tenon_dtype from) {
  using Wide = tenon_sdk::Types<double, int32_t, int64_t, uint32_t, uint64_t>;
  return dispatch<Wide>(from, []<class From>(Type<From>) {
    return unary_loop<From, To>([](From x) { return To(x); });
  });
}

}  // namespace

Span cast_span(tenon_dtype from, tenon_dtype to) {
  return dispatch<SpanAny>(to, [&]<class To>(Type<To>) { return to_span<To>(from); });
}

Prepared prepare_cast(const Request& request) {
  const tenon_dtype from = request.input(0).dtype, to = request.output(0).dtype;
  if (is_half(to)) {
    if (const Span span =
            to == TENON_FLOAT16 ? to_half_span<Half>(from) : to_half_span<BFloat16>(from)) {
      return make_without_conversion(request, span);
    }
  }
  return kernel_of(request, cast_span(compute_dtype(from), compute_dtype(to)));
}

}  // namespace tenon_simd
