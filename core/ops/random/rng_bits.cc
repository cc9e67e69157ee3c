// rng_bits: draws random bits with the counter-based generator Philox. All other random ops call
// it.

#include "core/ops/random/random_draws.h"

namespace tenon::ops {
namespace {

using Attrs = RngBitsAttrs;

// Constraints.
//   C1  state is u32[6].
//   C2  dtype is u32 or u64.
//   C3  the sizes in `shape` are not negative, and the size of the result does not overflow.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require_rng_state(in);
  require(attrs.dtype == DType::kU32 || attrs.dtype == DType::kU64,
          "C2: dtype must be u32 or u64, but is {}", attrs.dtype);
  return {require_sizes(attrs.dtype, attrs.shape, "C3"), rng_state_type()};
}

// The expected values were published by the authors of Philox.
Cases<Attrs> cases() {
  constexpr double kOnes = 0xffffffff;
  return {
      {.name = "known_answer_of_zeros",
       .attrs = {.shape = {4}},
       .inputs = {u32({0, 0, 0, 0, 0, 0})},
       .expect = {u32({0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}), u32({0, 0, 1, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "known_answer_of_ones",
       .attrs = {.shape = {4}},
       .inputs = {u32({kOnes, kOnes, kOnes, kOnes, kOnes, kOnes})},
       .expect = {u32({0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}),
                  u32({kOnes, kOnes, 0, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "known_answer_of_pi",
       .attrs = {.shape = {2, 2}},
       .inputs = {u32({0xa4093822, 0x299f31d0, 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344})},
       .expect = {u32({2, 2}, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}),
                  u32({0xa4093822, 0x299f31d0, 0x243f6a89, 0x85a308d3, 0x13198a2e, 0x03707344})},
       .n_outputs = 2},
      {.name = "part_of_a_block_uses_all_of_it",
       .attrs = {.shape = {1}},
       .inputs = {u32({0, 0, 0, 0, 0, 0})},
       .expect = {u32({0x6627e8d5}), u32({0, 0, 1, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "counter_carries",
       .attrs = {.shape = {5}},
       .inputs = {u32({1, 2, kOnes, kOnes, 0, 0})},
       .n_outputs = 2},
      {.name = "u64_takes_two_words",
       .attrs = {.shape = {3}, .dtype = DType::kU64},
       .inputs = {u32({7, 0, 0, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "no_elements",
       .attrs = {.shape = {0}},
       .inputs = {u32({1, 2, 3, 4, 5, 6})},
       .expect = {u32({0}, {}), u32({1, 2, 3, 4, 5, 6})},
       .n_outputs = 2},
      {.name = "state_is_too_short",
       .attrs = {.shape = {1}},
       .inputs = {u32({1, 2})},
       .error = "C1"},
      {.name = "state_is_signed",
       .attrs = {.shape = {1}},
       .inputs = {i32({1, 2, 3, 4, 5, 6})},
       .error = "C1"},
      {.name = "words_are_unsigned",
       .attrs = {.shape = {1}, .dtype = DType::kI32},
       .inputs = {u32({1, 2, 3, 4, 5, 6})},
       .error = "C2"},
      {.name = "negative_size",
       .attrs = {.shape = {-1}},
       .inputs = {u32({1, 2, 3, 4, 5, 6})},
       .error = "C3"},
  };
}

}  // namespace

OpDef rng_bits_def() {
  return define<Attrs>({
      .name = "rng_bits",
      .summary = "Random words from the generator Philox4x32-10, and its next state.",
      .formula = "bits[i] = lane (i mod 4) of block (counter + floor(i / 4))",
      .details = "The state is the 64-bit key, low word first, followed by the 128-bit counter, "
                 "low word first. Element i of a u64 result is lane 2i plus 2^32 times lane 2i + "
                 "1. A draw of n lanes advances the counter by ceil(n / 4).",
      .inputs = {{"state", "the generator's state, u32[6]"}},
      .outputs = {{"bits", "the random words"}, {"new_state", "the state for the next draw"}},
      .attrs_doc = {{"shape", "The shape of the result."},
                    {"dtype", "The dtype of the words: u32, or u64 with two lanes per element."}},
      .infer = infer,
      .cases = cases,
      .no_gradient = "its result is drawn, not computed from numbers",
  });
}

}  // namespace tenon::ops
