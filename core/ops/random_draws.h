// What ops that draw random numbers share: the generator's state and how bits become numbers.
// DESIGN 8 fixes both, so that every device draws the same.

#pragma once

#include "core/ops/formulas.h"

namespace tenon::ops {

// The key's low and high word, then the 128-bit counter, low word first.
inline constexpr int64_t kRngStateWords = 6;

TensorType rng_state_type();

// The first input must be a generator's state, else an error with the label C1.
void require_rng_state(TypeSpan in);

// Evenly spaced numbers in [0, 1), as many as the dtype's fraction tells apart, from the high bits
// of one word each. Gives the numbers and the new state.
Tensors draw_uniform(const Tensor& state, const Dims& shape, DType dtype);

}  // namespace tenon::ops
