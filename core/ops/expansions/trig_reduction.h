// Reduces the argument of sin, cos and tan modulo pi/2, accurately for every finite x.
//
// |x| = m 2^e with an integer m, so |x| 2/pi = m (2/pi 2^e). Binary digits of 2/pi 2^e with a value
// of 4 or more contribute whole turns and are skipped. The first digit that is read has the value
// 2; its position follows from e. From there, six limbs of half a word each are multiplied by m.
// The product gives the quadrant and a fraction. For the argument closest to a multiple of pi/2,
// the fraction begins with 30 zero bits in float32 and 61 in float64. More than 40 (float64: 70)
// bits follow. The product of a limb and half of m, plus the carry, fits into a word, so that no
// wider integers are needed.

#pragma once

#include <utility>

#include "core/ops/expansions/coefficients.h"
#include "core/ops/expansions/value.h"

namespace tenon::expansions {

// |x| = quadrant pi/2 + (angle.high + angle.low), modulo 2 pi. |angle| is at most pi/4, up to
// rounding.
template <class V>
struct Reduction {
  typename V::UInt quadrant;  // 0 to 4; 4 is equivalent to 0.
  Sum<V> angle;
};

template <class V>
struct PiReducer {
  using Scalar = typename V::Scalar;
  using UInt = typename V::UInt;
  using F = Format<Scalar>;

  static constexpr int kWord = 8 * sizeof(Scalar);
  static constexpr int kLimb = kWord / 2;
  static constexpr uint64_t kLimbMask = (uint64_t{1} << kLimb) - 1;
  // The bit of limb 0 that represents half a quadrant.
  static constexpr uint64_t kHalf = uint64_t{1} << (kLimb - 3);
  static constexpr uint64_t kImpliedBit = uint64_t{1} << F::kMantissaBits;
  static constexpr int kWordBits = kIsFloat32<V> ? 5 : 6;  // kWord = 2^kWordBits.
  static constexpr size_t kWords = kTwoOverPi<Scalar>.size();

  // Returns six limbs of 2/pi from binary digit `start` on. The word that contains this digit is
  // selected bit by bit: each set bit of the word's index moves all words forward by as many
  // positions as the bit's value.
  static std::array<UInt, 6> digits(const UInt& start) {
    std::array<UInt, kWords> words = all_digits(std::make_index_sequence<kWords>());
    for (size_t step = (kWords - 3) / 2; step > 0; step /= 2) {
      const auto moves = (start & (uint64_t{step} << kWordBits)) != 0;
      for (size_t i = 0; i < step + 3; ++i) words[i] = where(moves, words[i + step], words[i]);
    }
    const UInt left = start & (kWord - 1), right = (kWord - 1) - left;
    const auto aligned = [&](size_t i) { return words[i] << left | (words[i + 1] >> 1) >> right; };
    const UInt a = aligned(0), b = aligned(1), c = aligned(2);
    return {a >> kLimb, a & kLimbMask, b >> kLimb, b & kLimbMask, c >> kLimb, c & kLimbMask};
  }

  // Returns the upper four limbs of m times the digits, modulo 4 quadrants.
  static std::array<UInt, 4> product(const UInt& m, const std::array<UInt, 6>& digits) {
    const UInt upper = m >> kLimb, lower = m & kLimbMask;
    UInt by_lower = lower * digits[4];
    UInt sum = upper * digits[5] + (by_lower & kLimbMask);
    std::array<UInt, 4> limbs{sum, sum, sum, sum};
    for (size_t i = 4; i-- > 0;) {
      by_lower = lower * digits[i] + (by_lower >> kLimb);
      sum = (upper * digits[i + 1] + (by_lower & kLimbMask)) + (sum >> kLimb);
      limbs[i] = sum & kLimbMask;
    }
    return limbs;
  }

  // Converts the limbs of a fraction to a number in two parts. Each limb is converted exactly. If
  // the upper limbs are zero, the lower ones become the leading part.
  static Sum<V> fraction(const std::array<UInt, 4>& limbs) {
    std::array<V, 4> parts{V(0.0), V(0.0), V(0.0), V(0.0)};
    double unit = 4;
    for (size_t i = 0; i < 4; ++i) {
      unit /= static_cast<double>(kLimbMask + 1);
      parts[i] = to_float(as_int(limbs[i])) * unit;
    }
    const Sum<V> first = exact_sum(parts[0], parts[1]);
    const Sum<V> second = exact_sum(first.low, parts[2]);
    const Sum<V> lead = exact_sum(first.high, second.high);
    return exact_sum(lead.high, lead.low + (second.low + parts[3]));
  }

  // Returns x pi / 2. Both are numbers in two parts.
  static Sum<V> times_half_pi(const Sum<V>& x) {
    const Sum<V> right = half_pi<V>();
    const V high = x.high * right.high;
    const V error = product_error(x.high, right.high, high);
    return exact_sum(high, error + (x.high * right.low + x.low * right.high));
  }

  // Arguments up to pi/4 are returned unchanged; what the code computes for them is discarded. The
  // largest exponent is lowered by one and m is doubled, so that no further digits of 2/pi are
  // needed. If the fraction exceeds one half, the next quadrant is nearer. The distance to it is
  // then the complement of the limbs, up to one unit of the last limb, which is negligible.
  static Reduction<V> reduce(const V& magnitude) {
    const UInt bits = as_uint(as_int(magnitude));
    const UInt start = (bits >> F::kMantissaBits) - (F::kBias - 1);
    const UInt is_last = (start >> (kWordBits + (kIsFloat32<V> ? 2 : 4))) & 1;
    const UInt m = ((bits & (kImpliedBit - 1)) | kImpliedBit) << is_last;

    std::array<UInt, 4> limbs = product(m, digits(start - is_last));
    const UInt quadrant = (limbs[0] + kHalf) >> (kLimb - 2);
    const auto beyond_half = (limbs[0] & kHalf) != 0;
    const UInt flip = where(beyond_half, UInt(kLimbMask), UInt(0));
    for (UInt& limb : limbs) limb = limb ^ flip;
    limbs[0] = limbs[0] & (kHalf - 1);

    const Sum<V> reduced = times_half_pi(fraction(limbs));
    const auto is_small = magnitude <= 0x1.921fb54442d18p-1;
    const V high = where(beyond_half, -reduced.high, reduced.high);
    const V low = where(beyond_half, -reduced.low, reduced.low);
    return {where(is_small, UInt(0), quadrant),
            {where(is_small, magnitude, high), where(is_small, V(0.0), low)}};
  }

 private:
  // Returns all words of 2/pi as constants of the value type.
  template <size_t... I>
  static std::array<UInt, kWords> all_digits(std::index_sequence<I...>) {
    return {UInt(kTwoOverPi<Scalar>[I])...};
  }
};

}  // namespace tenon::expansions
