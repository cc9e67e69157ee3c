// nextafter, on the bits of floats.

#include <limits>

#include "plugins/simd/kernels/loops.h"

namespace tenon_simd {
namespace {

// Returns the bits of the next float. `kInfinity` is the bits of infinity; larger magnitudes are
// NaN.
template <class Bits, Bits kInfinity>
Bits next_after(Bits a, Bits b) {
  constexpr Bits kSign = std::numeric_limits<Bits>::min();
  const Bits magnitude_a = a & ~kSign, magnitude_b = b & ~kSign;
  // Maps the bits to integers with the order of the floats. Both zeros are mapped to 0.
  const Bits place_a = static_cast<Bits>(a < 0 ? -magnitude_a : magnitude_a);
  const Bits place_b = static_cast<Bits>(b < 0 ? -magnitude_b : magnitude_b);
  const Bits next = static_cast<Bits>(place_a < place_b ? place_a + 1 : place_a - 1);
  // Without branches, the compiler vectorises the loop.
  Bits result = static_cast<Bits>(next < 0 ? -next | kSign : next);
  result = next == 0 ? static_cast<Bits>(a & kSign) : result;
  result = place_a == place_b ? b : result;
  result = magnitude_b > kInfinity ? b : result;
  return magnitude_a > kInfinity ? a : result;
}

// Returns the loop of nextafter for a float type with these bits.
template <class Bits, Bits kInfinity>
Span nextafter_span() {
  return binary_loop<Bits, Bits>([](Bits a, Bits b) { return next_after<Bits, kInfinity>(a, b); });
}

}  // namespace

// Elements are processed as integers, so half types need no conversion.
Prepared prepare_nextafter(const Request& request) {
  switch (request.input(0).dtype) {
    case TENON_FLOAT16:
      return make_without_conversion(request, nextafter_span<int16_t, 0x7c00>());
    case TENON_BFLOAT16:
      return make_without_conversion(request, nextafter_span<int16_t, 0x7f80>());
    case TENON_FLOAT32:
      return make_without_conversion(request, nextafter_span<int32_t, 0x7f800000>());
    default:
      return make_without_conversion(request, nextafter_span<int64_t, 0x7ff0000000000000>());
  }
}

}  // namespace tenon_simd
