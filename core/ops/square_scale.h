// Squares that neither overflow nor vanish where what is made of them has its place in the dtype:
// lengths, deviations and what is divided by one. Values are multiplied by a power of two before
// they are squared, and the result by its inverse. In the ordinary range both are 1, so that
// results keep their bits.

#pragma once

#include <concepts>

#include "core/ops/formulas.h"

namespace tenon::ops {

// One factor for each sum of squares. Both are empty where none is needed.
struct SquareScale {
  Tensor factor;
  Tensor inverse;

  Tensor of(const Tensor& x) const { return factor ? x * factor : x; }
  Tensor undo(const Tensor& x) const { return inverse ? x * inverse : x; }
};

// Whether squares of values that were widened from the dtype need scaling at all: float16 has so
// few exponents that they are ordinary numbers of float32.
inline bool needs_scale(DType from) { return from != DType::kF16; }

// For values whose squares, as they are, have these sums or means. The factor is 1 where a sum is
// from 2^-96 to 2^96, in float64 from 2^-880 to 2^960. Something as large as `floor` is added to
// the root of the sum, so that what is smaller need not be enlarged.
SquareScale square_scale(const Tensor& squares, double floor = 0);
// The same where squares() gives the sums, which is called if they are needed. `from` is the dtype
// that the values were widened from.
template <std::invocable Squares>
SquareScale square_scale(DType from, const Squares& squares, double floor = 0) {
  return needs_scale(from) ? square_scale(squares(), floor) : SquareScale();
}

// The factors that square_scale() has beside 1: for what is too large and for what is too small.
struct SquareFactors {
  double down, up;
};
SquareFactors square_factors(DType dtype);

// Vectors are made shorter by this before their lengths are taken, where a length may overflow
// though no element does, and something much larger than 2^-48 is added to it.
inline constexpr double kShorter = 0x1p-32;

// x divided by the larger of its Euclidean length along an axis and `epsilon`.
Tensor divide_by_length(const Tensor& x, int64_t axis, DType from, double epsilon);

}  // namespace tenon::ops
