// Sums of squares that neither overflow nor underflow if the result fits the dtype: for lengths,
// deviations and their inverses. Values are multiplied by a power of two before they are squared,
// and the result by its inverse. In the ordinary range both are 1, so that results keep their bits.

#pragma once

#include <concepts>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {

// One factor for each sum of squares, and its inverse. Both are empty if no scaling is needed.
struct SquareScale {
  Tensor factor;
  Tensor inverse;

  Tensor of(const Tensor& x) const { return factor ? x * factor : x; }
  Tensor undo(const Tensor& x) const { return inverse ? x * inverse : x; }
};

// Whether squares of values that were widened from the dtype need scaling. float16 has so few
// exponents that its squares are ordinary numbers of float32.
inline bool needs_scale(DType from) { return from != DType::kF16; }

// Scales for values whose unscaled squares have these sums or means. The factor is 1 where a sum is
// from 2^-96 to 2^96, in float64 from 2^-880 to 2^960. The caller adds a value of the size of
// `floor` to the root of the sum, so smaller values need not be scaled up.
SquareScale square_scale(const Tensor& squares, double floor = 0);
// The same with squares(), which returns the sums and is called only if they are needed. `from` is
// the dtype that the values were widened from.
template <std::invocable Squares>
SquareScale square_scale(DType from, const Squares& squares, double floor = 0) {
  return needs_scale(from) ? square_scale(squares(), floor) : SquareScale();
}

// The factors of square_scale() other than 1: for sums that are too large, and too small.
struct SquareFactors {
  double down, up;
};
SquareFactors square_factors(DType dtype);

// Shortens vectors before their lengths are computed, where a length may overflow although no
// element does. Suitable if a value much larger than 2^-48 is added to the length.
inline constexpr double kLengthScale = 0x1p-32;

// x divided by the larger of its Euclidean length along an axis and `epsilon`.
Tensor divide_by_length(const Tensor& x, int64_t axis, DType from, double epsilon);

}  // namespace tenon::ops
