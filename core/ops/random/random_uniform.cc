// random_uniform: draws from a uniform distribution between two bounds.

#include "core/ops/random/random_draws.h"

namespace tenon::ops {
namespace {

using Attrs = RandomUniformAttrs;

// Constraints.
//   C1  state is u32[6].
//   C2  dtype is floating point.
//   C3  the sizes in `shape` are not negative, and the size of the result does not overflow.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  return infer_floating_draw(in, attrs.dtype, attrs.shape);
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  Tensors drawn = draw_uniform(in[0], to_dims(attrs.shape), attrs.dtype);
  if (attrs.low == 0 && attrs.high == 1) return drawn;
  drawn[0] = drawn[0] * (attrs.high - attrs.low) + attrs.low;
  return drawn;
}

// The bits in these cases are those published for Philox. For example, 0x6627e8d5 >> 8 is 0x6627e8.
Cases<Attrs> cases() {
  const CaseTensor zeros = u32({0, 0, 0, 0, 0, 0});
  const CaseTensor next = u32({0, 0, 1, 0, 0, 0});
  return joined<Attrs>(
      {
          {.name = "example",
           .attrs = {.shape = {4}},
           .inputs = {zeros},
           .expect = {f32({0x6627e8 * 0x1p-24, 0xe169c5 * 0x1p-24, 0xbc57ac * 0x1p-24,
                           0x9b00db * 0x1p-24}),
                      next},
           .n_outputs = 2},
          {.name = "f16",
           .attrs = {.shape = {2}, .dtype = DType::kF16},
           .inputs = {zeros},
           .expect = {f16({(0x6627e8d5 >> 21) * 0x1p-11, (0xe169c58d >> 21) * 0x1p-11}), next},
           .n_outputs = 2},
          {.name = "bf16",
           .attrs = {.shape = {2}, .dtype = DType::kBF16},
           .inputs = {zeros},
           .expect = {bf16({0x66 * 0x1p-8, 0xe1 * 0x1p-8}), next},
           .n_outputs = 2},
          {.name = "f64",
           .attrs = {.shape = {2}, .dtype = DType::kF64},
           .inputs = {zeros},
           .expect = {f64({(0xe169c58d6627e8d5 >> 11) * 0x1p-53,
                           (0x9b00dbd8bc57ac4c >> 11) * 0x1p-53}),
                      next},
           .n_outputs = 2},
          {.name = "bounds",
           .attrs = {.shape = {2}, .low = -2, .high = 6},
           .inputs = {zeros},
           .expect = {f32({0x6627e8 * 0x1p-21 - 2, 0xe169c5 * 0x1p-21 - 2}), next},
           .n_outputs = 2},
      },
      shared_draw_cases<Attrs>());
}

}  // namespace

OpDef random_uniform_def() {
  return define<Attrs>({
      .name = "random_uniform",
      .summary = "Samples from a uniform distribution, and the generator's next state.",
      .formula = "y = low + (high - low) * u, where u = (bits >> 8) * 2^-24 for f32",
      .details = "f64 uses the upper 53 bits of a u64, f16 the upper 11 and bf16 the upper 8 bits "
                 "of a u32. The lower bound is included; the upper bound is excluded, unless "
                 "rounding the sum yields it.",
      .inputs = {{"state", "the generator's state, u32[6]"}},
      .outputs = {{"y", "the samples"}, {"new_state", "the state for the next draw"}},
      .attrs_doc = {{"shape", "The shape of the result."},
                    {"dtype", "The dtype of the result; floating point."},
                    {"low", "The lower bound."},
                    {"high", "The upper bound."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .no_gradient = "its result is drawn, not computed from numbers",
  });
}

}  // namespace tenon::ops
