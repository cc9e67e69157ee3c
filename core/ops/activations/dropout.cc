// dropout: sets random elements to zero, and scales the others so that the expected value of each
// element is unchanged.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double ratio = 0.5;    // Probability that an element is dropped.
  bool training = true;  // If false, returns x unchanged.
  TENON_ATTRS(ratio, training)
};

// Constraints.
//   C1  x is floating point.
//   C2  state is the state of a generator: u32[6].
//   C3  0 <= ratio < 1.
//   C4  type(y) = type(x); mask is bool and has the shape of x; type(new_state) = type(state).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[0], &state = in[1];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  require(state == TensorType(DType::kU32, {6}), "C2: state must be u32[6], but is {}", state);
  require(attrs.ratio >= 0 && attrs.ratio < 1, "C3: ratio must be in [0, 1), but is {}",
          attrs.ratio);
  return {x, TensorType(DType::kBool, x.shape), state};  // C4
}

// Returns x / (1 - ratio) where the mask is true, and 0 elsewhere.
Tensor apply_mask(const Attrs& attrs, const Tensor& mask, const Tensor& x) {
  return where(mask, x * (1 / (1 - attrs.ratio)), number(0));
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor &x = in[0], &state = in[1];
  if (!attrs.training) {
    return {identity(x), ones(TensorType(DType::kBool, x->shape())), identity(state)};
  }
  const Tensors drawn = random_uniform(state, x->shape(), DType::kF32);
  const Tensor mask = greater_equal(drawn[0], number(attrs.ratio));
  return {apply_mask(attrs, mask, x), mask, drawn[1]};
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor& dy = v.cotangent(0);
  return {attrs.training ? apply_mask(attrs, v.output(1), dy) : dy, Tensor()};
}

Cases<Attrs> cases() {
  const CaseTensor state = u32({0, 0, 0, 0, 0, 0});
  return {
      {.name = "inference_drops_nothing",
       .attrs = {.training = false},
       .inputs = {f32({1, 2, 3}), state},
       .expect = {f32({1, 2, 3}), boolean({1, 1, 1}), state},
       .n_outputs = 3},
      {.name = "ratio_of_zero_keeps_all",
       .attrs = {.ratio = 0},
       .inputs = {f32({1, 2, 3}), state},
       .expect = {f32({1, 2, 3}), boolean({1, 1, 1}), u32({0, 0, 1, 0, 0, 0})},
       .n_outputs = 3},
      // With a state of zeros, the published test vector of Philox gives the random numbers 0.399,
      // 0.881, 0.736 and 0.605.
      {.name = "half_is_dropped",
       .inputs = {f32({1, 2, 3, 4}), state},
       .expect = {f32({0, 4, 6, 8}), boolean({0, 1, 1, 1}), u32({0, 0, 1, 0, 0, 0})},
       .n_outputs = 3},
      {.name = "ratio",
       .attrs = {.ratio = 0.75},
       .inputs = {f32({1, 2, 3, 4}), state},
       .expect = {f32({0, 8, 0, 0}), boolean({0, 1, 0, 0}), u32({0, 0, 1, 0, 0, 0})},
       .n_outputs = 3},
      {.name = "no_elements",
       .inputs = {f32({0, 3}, {}), state},
       .expect = {f32({0, 3}, {}), boolean({0, 3}, {}), state},
       .n_outputs = 3},
      {.name = "integers", .inputs = {i32({1}), state}, .error = "C1"},
      {.name = "state_too_short", .inputs = {f32({1}), u32({0, 0})}, .error = "C2"},
      {.name = "ratio_of_one", .attrs = {.ratio = 1}, .inputs = {f32({1}), state}, .error = "C3"},
  };
}

}  // namespace

OpDef dropout_def() {
  return define<Attrs>({
      .name = "dropout",
      .summary = "Sets random elements to zero and scales the others by 1 / (1 - ratio).",
      .formula = "mask = uniform() >= ratio; y = mask ? x / (1 - ratio) : 0",
      .details = "Draws one number for each element of x, as random_uniform does in float32. If "
                 "training is false, y is x and nothing is drawn.",
      .inputs = {{"x", "the input, floating point"}, {"state", "the generator state: u32[6]"}},
      .outputs = {{"y", "the result, of the type of x"},
                  {"mask", "whether each element was kept"},
                  {"new_state", "the generator state after the draw"}},
      .attrs_doc = {{"ratio", "The probability that an element is dropped."},
                    {"training", "Whether to drop elements at all."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kSome,
      .saved_outputs = 0b10,
      .numeric = Numeric::kRounded,
      .sparse_output = true,
      .onnx = "Dropout",
  });
}

}  // namespace tenon::ops
