// random_categorical draws classes from logits. random_permutation draws permutations.

#include <limits>

#include "core/ops/definition/op_ids.h"
#include "core/ops/random/random_draws.h"

namespace tenon::ops {
namespace {

struct CategoricalAttrs {
  int64_t num_samples = 1;  // Number of samples to draw from each distribution.
  TENON_ATTRS(num_samples)
};

struct PermutationAttrs {
  int64_t n = 0;  // Number of elements to permute.
  TENON_ATTRS(n)
};

// Constraints.
//   C1  state is u32[6].
//   C2  logits are floating point and have at least one class along the last axis.
//   C3  num_samples is not negative, and the result has at most 2^62 bytes.
TensorTypes categorical_infer(const CategoricalAttrs& attrs, TypeSpan in) {
  require_rng_state(in);
  const TensorType& logits = in[1];
  require(is_floating(logits.dtype) && logits.rank() >= 1 && logits.shape[logits.rank() - 1] >= 1,
          "C2: logits must be floating point with a class along the last axis, but are {}", logits);
  require(attrs.num_samples >= 0, "C3: num_samples must not be negative, but is {}",
          attrs.num_samples);
  TensorType y(DType::kI64, logits.shape);
  y.shape[y.rank() - 1] = attrs.num_samples;
  check_size(y);
  TensorType drawn = y;
  drawn.shape.push_back(logits.shape[logits.rank() - 1]);
  check_size(drawn);
  return {y, rng_state_type()};
}

// A draw u of 0 would give an infinite ln(u). It is replaced by half the distance between adjacent
// draws.
constexpr double kMinDraw = 0x1p-25;

// The Gumbel-max trick: class k has the largest value of logits[k] - ln(-ln(u[k])) with probability
// softmax(logits)[k].
Tensors categorical(const CategoricalAttrs& attrs, TensorSpan in) {
  const DType wide = wide_dtype(in[1]->type.dtype);
  const auto last = static_cast<int64_t>(in[1]->rank()) - 1;
  const Tensor logits = expand_dims(to_dtype(in[1], wide), {last});
  Dims shape = in[1]->shape();
  shape.insert(static_cast<size_t>(last), attrs.num_samples);
  const Tensors drawn = draw_uniform(in[0], shape, DType::kF32);
  const Tensor u = maximum(drawn[0], number(kMinDraw));
  const Tensor noise = to_dtype(-log(-log(u)), wide);
  const Tensor y = call1(OpId::k_argmax, ArgReduceAttrs{.axis = -1}, {logits + noise});
  return {y, drawn[1]};
}

// Constraints.
//   C1  state is u32[6].
//   C2  n is not negative, and the result has at most 2^62 bytes.
TensorTypes permutation_infer(const PermutationAttrs& attrs, TypeSpan in) {
  require_rng_state(in);
  return {require_sizes(DType::kI64, {attrs.n}, "C2"), rng_state_type()};
}

// The permutation that sorts random 64-bit numbers, which are almost never equal.
Tensors permutation(const PermutationAttrs& attrs, TensorSpan in) {
  const Tensors drawn = rng_bits(in[0], {attrs.n}, DType::kU64);
  return {argsort(drawn[0], {.axis = 0}), drawn[1]};
}

// The expected values were computed with NumPy from the published results of Philox. With a state
// of zeros, the draws are 0.399, 0.881, 0.736, 0.605, 0.972, 0.362, 0.694 and 0.037.
CaseTensor zeros_state() { return u32({0, 0, 0, 0, 0, 0}); }

Cases<CategoricalAttrs> categorical_cases() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return {
      {.name = "example",
       .attrs = {.num_samples = 4},
       .inputs = {zeros_state(), f32({0, 0, 0})},
       .expect = {i64({1, 1, 0, 0}), u32({0, 0, 3, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "two_distributions",
       .attrs = {.num_samples = 3},
       .inputs = {zeros_state(), f64({2, 2}, {0, 2, 2, 0})},
       .expect = {i64({2, 3}, {1, 1, 0, 0, 0, 0}), u32({0, 0, 3, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "one_sample",
       .inputs = {zeros_state(), f16({1, 2, 3})},
       .expect = {i64({2}), u32({0, 0, 1, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "classes_without_weight",
       .attrs = {.num_samples = 2},
       .inputs = {zeros_state(), f32({-kInf, 0, -kInf})},
       .expect = {i64({1, 1}), u32({0, 0, 2, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "a_draw_of_zero",  // The fifth draw is 0, and only its class has a finite logit.
       .attrs = {.num_samples = 2},
       .inputs = {u32({0, 0, 14883994, 0, 0, 0}), f32({-kInf, 0, -kInf})},
       .expect = {i64({1, 1}), u32({0, 0, 14883996, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "no_samples",
       .attrs = {.num_samples = 0},
       .inputs = {zeros_state(), f32({0, 0})},
       .expect = {i64({0}, {}), zeros_state()},
       .n_outputs = 2},
      {.name = "state_is_too_short", .inputs = {u32({1}), f32({0})}, .error = "C1"},
      {.name = "no_classes", .inputs = {zeros_state(), f32({0}, {})}, .error = "C2"},
      {.name = "integers", .inputs = {zeros_state(), i32({1, 2})}, .error = "C2"},
      {.name = "negative_count",
       .attrs = {.num_samples = -1},
       .inputs = {zeros_state(), f32({0})},
       .error = "C3"},
  };
}

Cases<PermutationAttrs> permutation_cases() {
  return {
      {.name = "example",
       .attrs = {.n = 5},
       .inputs = {zeros_state()},
       .expect = {i64({3, 4, 2, 1, 0}), u32({0, 0, 3, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "nothing",
       .attrs = {.n = 0},
       .inputs = {zeros_state()},
       .expect = {i64({0}, {}), zeros_state()},
       .n_outputs = 2},
      {.name = "state_is_too_short", .attrs = {.n = 1}, .inputs = {u32({1})}, .error = "C1"},
      {.name = "negative_count", .attrs = {.n = -1}, .inputs = {zeros_state()}, .error = "C2"},
  };
}

}  // namespace

OpDef random_categorical_def() {
  return define<CategoricalAttrs>({
      .name = "random_categorical",
      .summary = "Samples from a categorical distribution, and the generator's next state.",
      .formula = "y = argmax(logits - ln(-ln(u)))",
      .details = "Class k is drawn with probability softmax(logits)[k]. Each sample and class uses "
                 "one float32 draw u, as in random_uniform but at least 2^-25. A class with logit "
                 "-infinity is never drawn if another logit is larger.",
      .inputs = {{"state", "the generator's state, u32[6]"},
                 {"logits",
                  "the unnormalised log-probabilities of the classes, along the last axis"}},
      .outputs = {{"y", "the classes as int64, num_samples along the last axis"},
                  {"new_state", "the state for the next draw"}},
      .attrs_doc = {{"num_samples", "The number of classes to draw from each distribution."}},
      .infer = categorical_infer,
      .decompose = categorical,
      .cases = categorical_cases,
      .sparse_output = true,
      .no_gradient = "its result is an index",
  });
}

OpDef random_permutation_def() {
  return define<PermutationAttrs>({
      .name = "random_permutation",
      .summary = "A random permutation of 0 to n - 1, and the generator's next state.",
      .formula = "y = argsort(bits)",
      .details = "The bits are n 64-bit words, drawn as by rng_bits. To shuffle a tensor along an "
                 "axis, gather it with y.",
      .inputs = {{"state", "the generator's state, u32[6]"}},
      .outputs = {{"y", "the permutation, as int64"}, {"new_state", "the state for the next draw"}},
      .attrs_doc = {{"n", "The number of elements."}},
      .infer = permutation_infer,
      .decompose = permutation,
      .cases = permutation_cases,
      .sparse_output = true,
      .no_gradient = "its result is an index",
  });
}

}  // namespace tenon::ops
