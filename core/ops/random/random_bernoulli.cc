// random_bernoulli: bools that are true with a given probability.

#include "core/ops/random/random_draws.h"

namespace tenon::ops {
namespace {

using Attrs = ShapeAttrs;

// Constraints.
//   C1  state is u32[6].
//   C2  p is floating point and has rank 0.
//   C3  the sizes of `shape` are not negative, and the result has at most 2^62 bytes.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require_rng_state(in);
  require(is_floating(in[1].dtype) && in[1].rank() == 0,
          "C2: p must be floating point and have rank 0, but is {}", in[1]);
  return {require_sizes(DType::kBool, attrs.shape, "C3"), rng_state_type()};
}

// u < p is false for every u if p is 0, and true for every u if p is 1, because u is in [0, 1).
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensors drawn = draw_uniform(in[0], to_dims(attrs.shape), DType::kF32);
  return {less(drawn[0], cast(in[1], DType::kF32)), drawn[1]};
}

// The uniform draws in these cases are 0.399, 0.881, 0.736 and 0.606; see random_uniform.
Cases<Attrs> cases() {
  const CaseTensor zeros = u32({0, 0, 0, 0, 0, 0});
  const CaseTensor next = u32({0, 0, 1, 0, 0, 0});
  return {
      {.name = "example",
       .attrs = {.shape = {4}},
       .inputs = {zeros, f32({}, {0.7})},
       .expect = {boolean({1, 0, 0, 1}), next},
       .n_outputs = 2},
      {.name = "never",
       .attrs = {.shape = {4}},
       .inputs = {zeros, f32({}, {0})},
       .expect = {boolean({0, 0, 0, 0}), next},
       .n_outputs = 2},
      {.name = "always",
       .attrs = {.shape = {4}},
       .inputs = {zeros, f64({}, {1})},
       .expect = {boolean({1, 1, 1, 1}), next},
       .n_outputs = 2},
      {.name = "no_elements",
       .attrs = {.shape = {0}},
       .inputs = {zeros, f32({}, {0.5})},
       .expect = {boolean({0}, {}), zeros},
       .n_outputs = 2},
      {.name = "state_is_too_short",
       .attrs = {.shape = {1}},
       .inputs = {u32({1}), f32({}, {0.5})},
       .error = "C1"},
      {.name = "p_has_an_axis",
       .attrs = {.shape = {1}},
       .inputs = {zeros, f32({0.5})},
       .error = "C2"},
      {.name = "negative_size",
       .attrs = {.shape = {-1}},
       .inputs = {zeros, f32({}, {0.5})},
       .error = "C3"},
  };
}

}  // namespace

OpDef random_bernoulli_def() {
  return define<Attrs>({
      .name = "random_bernoulli",
      .summary = "Samples from a Bernoulli distribution, and the generator's next state.",
      .formula = "y = u < p, where u = (bits >> 8) * 2^-24",
      .inputs = {{"state", "the generator's state, u32[6]"},
                 {"p", "the probability of true, of rank 0"}},
      .outputs = {{"y", "the samples, as bool"}, {"new_state", "the state for the next draw"}},
      .attrs_doc = {{"shape", "The shape of the result."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .sparse_output = true,
      .no_gradient = "its result is bool",
  });
}

}  // namespace tenon::ops
