// Shared by ops that draw random numbers: the generator's state, and the conversion of bits to
// floats. Both are specified, so that every device draws the same numbers.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon::ops {

// Number of uint32 words of a generator's state: the key (low word, high word), then the 128-bit
// counter, low word first.
inline constexpr int64_t kRngStateWords = 6;

TensorType rng_state_type();

// Requires the first input to be a generator's state; errors have the label C1.
void require_rng_state(TypeSpan in);

// Infers the types of a draw of floats and of the new state. Errors have label C1 (the state), C2
// (the dtype) or C3 (a size).
TensorTypes infer_floating_draw(TypeSpan in, DType dtype, const Sizes& shape);

// Cases that all draws of floats share: an empty draw, and errors.
template <typename Attrs>
Cases<Attrs> shared_draw_cases() {
  const CaseTensor zeros = u32({0, 0, 0, 0, 0, 0});
  return {
      {.name = "no_elements",
       .attrs = {.shape = {0}},
       .inputs = {zeros},
       .expect = {f32({0}, {}), zeros},
       .n_outputs = 2},
      {.name = "state_is_too_short", .attrs = {.shape = {1}}, .inputs = {u32({1})}, .error = "C1"},
      {.name = "integers_are_not_drawn",
       .attrs = {.shape = {1}, .dtype = DType::kI32},
       .inputs = {zeros},
       .error = "C2"},
      {.name = "negative_size", .attrs = {.shape = {-1}}, .inputs = {zeros}, .error = "C3"},
  };
}

// Draws evenly spaced floats in [0, 1), each from the high bits of one word (two for float64). As
// many bits are used as the fraction of the dtype has. Returns the floats and the new state.
Tensors draw_uniform(const Tensor& state, const Dims& shape, DType dtype);

}  // namespace tenon::ops
