// adagrad: a gradient step, divided by the square root of the sum of all squared gradients so far.

#include "core/ops/optimizers/optimizer.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double epsilon = 1e-6;  // Added to the square root of the sum of squares.
  TENON_ATTRS(epsilon)
};

// Constraints.
//   C1  p is floating point.
//   C2  g and s have the type of p.
//   C3  lr is floating point and 0-d.
//   C4  epsilon is not negative.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require_optimizer_inputs(in, {"g", "s"}, 3);
  require_epsilon(attrs.epsilon, "C4");
  return {in[0], in[0]};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensors w = widen_inputs(in, 4);
  const Tensor &p = w[0], &g = w[1], &lr = w[3];
  const Tensor s = w[2] + g * g;
  return narrow_results({p - lr * g / (sqrt(s) + attrs.epsilon), s}, in[0]->type.dtype);
}

Cases<Attrs> cases() {
  const CaseTensor p = f32({1, 2}), g = f32({3, -2}), s = f32({16, 0});
  return {
      {.name = "example",
       .attrs = {.epsilon = 0},
       .inputs = {p, g, s, scalar(0.5)},
       .expect = {f32({0.7, 2.5}), f32({25, 4})},
       .n_outputs = 2},
      {.name = "epsilon",
       .attrs = {.epsilon = 1},
       .inputs = {p, g, s, scalar(0.5)},
       .expect = {f32({0.75, 2.3333333333333335}), f32({25, 4})},
       .n_outputs = 2},
      {.name = "no_gradient_yet",
       .inputs = {f32({1}), f32({0}), f32({0}), scalar(1)},
       .expect = {f32({1}), f32({0})},
       .n_outputs = 2},
      {.name = "half",
       .attrs = {.epsilon = 0},
       .inputs = {f16({1}), f16({4}), f16({9}), f32({}, {0.5})},
       .expect = {f16({0.60009765625}), f16({25})},
       .n_outputs = 2},
      {.name = "no_elements",
       .inputs = {uniform({0}), uniform({0}), uniform({0}), scalar(1)},
       .n_outputs = 2},
      {.name = "integers", .inputs = {i32({1}), i32({1}), i32({1}), f32({}, {1})}, .error = "C1"},
      {.name = "state_differs", .inputs = {p, g, f32({1}), scalar(1)}, .error = "C2"},
      {.name = "rate_has_an_axis", .inputs = {p, g, s, f32({1})}, .error = "C3"},
      {.name = "negative_epsilon",
       .attrs = {.epsilon = -1},
       .inputs = {p, g, s, scalar(1)},
       .error = "C4"},
  };
}

}  // namespace

OpDef adagrad_def() {
  return define<Attrs>({
      .name = "adagrad",
      .summary =
          "An Adagrad step: the gradient divided by the root of the sum of squared gradients.",
      .formula = "new_s = s + g^2; new_p = p - lr * g / (sqrt(new_s) + epsilon)",
      .inputs = {{"p", "the parameter"},
                 {"g", "its gradient"},
                 {"s", "the sum of squared gradients, not negative before the first step"},
                 {"lr", "the learning rate, 0-d"}},
      .outputs = {{"new_p", "the parameter after the step"},
                  {"new_s", "the sum of squared gradients"}},
      .attrs_doc = {{"epsilon", "Added to the square root of the sum of squares."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .no_gradient = kNoStepGradient,
  });
}

}  // namespace tenon::ops
