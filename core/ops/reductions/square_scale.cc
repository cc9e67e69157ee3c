#include "core/ops/reductions/square_scale.h"

#include "core/ops/definition/op_ids.h"

namespace tenon::ops {
namespace {

// A sum of squares outside [low, high] may have overflowed, or may include subnormal squares. The
// values are then multiplied by `down` or `up` before they are squared. Assuming at most 2^31
// values, the largest square is at least 2^-31 times the sum. After scaling, it is a normal number,
// and the sum of 2^31 such squares is finite.
struct Range {
  double low, high, up, down;
};
constexpr Range kF32 = {0x1p-96, 0x1p96, 0x1p90, 0x1p-80};
constexpr Range kF64 = {0x1p-880, 0x1p960, 0x1p600, 0x1p-600};

// Returns the range of sums of squares that need no scaling, and the factors for other sums.
const Range& range_of(DType dtype) { return dtype == DType::kF64 ? kF64 : kF32; }

}  // namespace

// Returns the factors by which values with too large or too small squares are multiplied.
SquareFactors square_factors(DType dtype) {
  const Range& range = range_of(dtype);
  return {.down = range.down, .up = range.up};
}

// Returns the factors for values with these sums of unscaled squares.
SquareScale square_scale(const Tensor& squares, double floor) {
  const DType dtype = squares->type.dtype;
  const Range& range = range_of(dtype);
  const Tensor one = ones(TensorType(dtype, {}));
  const Tensor is_large = greater(squares, number(range.high));
  if (floor * floor >= range.low) {
    return {where(is_large, number(range.down), one), where(is_large, number(1 / range.down), one)};
  }
  const Tensor is_small = less(floor > 0 ? squares + floor * floor : squares, number(range.low));
  return {where(is_large, number(range.down), where(is_small, number(range.up), one)),
          where(is_large, number(1 / range.down), where(is_small, number(1 / range.up), one))};
}

// Divides x by its Euclidean norm along an axis, or by `epsilon` where that is larger.
Tensor divide_by_length(const Tensor& x, int64_t axis, DType from, double epsilon) {
  const Along along{.axes = {axis}, .keepdims = true};
  const auto length = [&](const Tensor& vectors, const Tensor& least) {
    return maximum(call1(OpId::k_l2_norm, along, {vectors}), least);
  };
  if (!needs_scale(from)) return x / length(x, number(epsilon));
  if (epsilon * epsilon >= range_of(x->type.dtype).low) {
    return x / length(x * kLengthScale, number(epsilon * kLengthScale)) * kLengthScale;
  }
  const SquareScale scale = square_scale(sum(square(x), along), epsilon);
  const Tensor vectors = scale.of(x);
  return vectors / length(vectors, epsilon * scale.factor);
}

}  // namespace tenon::ops
