// Sums of squares that neither overflow nor underflow if the dtype can represent the result: for
// norms, deviations and their inverses. Values are multiplied by a power of two before they are
// squared, and the result by the inverse of that power. In the usual range, the power is 1 and
// results are unchanged.

#pragma once

#include <concepts>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {

// The factor for each sum of squares, and its inverse. Both tensors are empty if nothing is scaled.
struct SquareScale {
  Tensor factor;
  Tensor inverse;

  // Returns x multiplied by the factor.
  Tensor of(const Tensor& x) const { return factor ? x * factor : x; }
  // Returns x divided by the factor.
  Tensor undo(const Tensor& x) const { return inverse ? x * inverse : x; }
};

// Whether squares of values with dtype `from` need scaling after they are widened. float16 needs
// none, because its squares are in the normal range of float32.
inline bool needs_scale(DType from) { return from != DType::kF16; }

// Returns the factors for values with these sums or means of unscaled squares. The factor is 1 if a
// sum is between 2^-96 and 2^96 (float64: 2^-880 and 2^960). The caller adds a value of about
// `floor` to the root of the sum, so sums that are small relative to floor^2 are not scaled up.
SquareScale square_scale(const Tensor& squares, double floor = 0);
// As square_scale(squares, floor), but calls squares() to compute the sums only if scaling may be
// needed. `from` is the dtype before the values were widened.
template <std::invocable Squares>
SquareScale square_scale(DType from, const Squares& squares, double floor = 0) {
  return needs_scale(from) ? square_scale(squares(), floor) : SquareScale();
}

// The two factors other than 1 that square_scale() uses: for sums that are too large, and too
// small.
struct SquareFactors {
  double down, up;
};
// Returns the factors for values of a dtype, float32 or float64.
SquareFactors square_factors(DType dtype);

// Factor for vectors before their norm is computed, if the norm may overflow although no element
// does. Use it only if a value much larger than 2^-48 is added to the norm.
inline constexpr double kLengthScale = 0x1p-32;

// Divides x by its Euclidean norm along an axis, or by `epsilon` where that is larger.
Tensor divide_by_length(const Tensor& x, int64_t axis, DType from, double epsilon);

}  // namespace tenon::ops
