// rmsprop: a gradient step, divided by the square root of the moving average of squared gradients.

#include "core/ops/optimizers/optimizer.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double rho = 0.9;       // Decay rate of the moving average of squares.
  double epsilon = 1e-7;  // Added to the square root of the moving average.
  TENON_ATTRS(rho, epsilon)
};

// Constraints.
//   C1  p is floating point.
//   C2  g and s have the type of p.
//   C3  lr is floating point and 0-d.
//   C4  0 <= rho < 1.
//   C5  epsilon is not negative.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require_optimizer_inputs(in, {"g", "s"}, 3);
  require_decay(attrs.rho, "rho", "C4");
  require_epsilon(attrs.epsilon, "C5");
  return {in[0], in[0]};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensors w = widen_inputs(in, 4);
  const Tensor &p = w[0], &g = w[1], &lr = w[3];
  const Tensor s = attrs.rho * w[2] + (1 - attrs.rho) * (g * g);
  return narrow_results({p - lr * g / (sqrt(s) + attrs.epsilon), s}, in[0]->type.dtype);
}

Cases<Attrs> cases() {
  const CaseTensor p = f32({1, 2}), g = f32({2, -2}), s = f32({28, 4});
  return {
      {.name = "example",
       .attrs = {.rho = 0.5, .epsilon = 0},
       .inputs = {p, g, s, scalar(0.5)},
       .expect = {f32({0.75, 2.5}), f32({16, 4})},
       .n_outputs = 2},
      {.name = "default_rho",
       .inputs = {f32({1}), f32({10}), f32({0}), scalar(1)},
       .expect = {f32({-2.162277560168383}), f32({10})},
       .n_outputs = 2},
      {.name = "epsilon",
       .attrs = {.rho = 0.5, .epsilon = 4},
       .inputs = {p, g, s, scalar(1)},
       .expect = {f32({0.75, 2.3333333333333335}), f32({16, 4})},
       .n_outputs = 2},
      {.name = "integers", .inputs = {i32({1}), i32({1}), i32({1}), f32({}, {1})}, .error = "C1"},
      {.name = "state_differs", .inputs = {p, g, f32({1}), scalar(1)}, .error = "C2"},
      {.name = "rate_has_an_axis", .inputs = {p, g, s, f32({1})}, .error = "C3"},
      {.name = "negative_rho",
       .attrs = {.rho = -0.5},
       .inputs = {p, g, s, scalar(1)},
       .error = "C4"},
      {.name = "negative_epsilon",
       .attrs = {.epsilon = -1},
       .inputs = {p, g, s, scalar(1)},
       .error = "C5"},
  };
}

}  // namespace

OpDef rmsprop_def() {
  return define<Attrs>({
      .name = "rmsprop",
      .summary = "One RMSProp step: the gradient divided by the root of its decaying mean square.",
      .formula = "new_s = rho * s + (1 - rho) * g^2; new_p = p - lr * g / (sqrt(new_s) + epsilon)",
      .inputs = {{"p", "the parameter"},
                 {"g", "its gradient"},
                 {"s", "the decaying mean of squared gradients, zeros before the first step"},
                 {"lr", "the learning rate, 0-d"}},
      .outputs = {{"new_p", "the parameter after the step"},
                  {"new_s", "the decaying mean of squared gradients"}},
      .attrs_doc = {{"rho", "The decay rate of the mean of squared gradients."},
                    {"epsilon", "Added to the root of that mean."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .no_gradient = kNoStepGradient,
  });
}

}  // namespace tenon::ops
