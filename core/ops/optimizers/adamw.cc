// adamw: adam with weight decay that is applied to p directly and not through the gradient.

#include "core/ops/optimizers/optimizer.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double beta1 = 0.9;          // Decay rate of the moving average of gradients.
  double beta2 = 0.999;        // Decay rate of the moving average of squared gradients.
  double epsilon = 1e-8;       // Added to the square root of the average of squares.
  double weight_decay = 0.01;  // Fraction of p that a step subtracts at learning rate 1.
  TENON_ATTRS(beta1, beta2, epsilon, weight_decay)
};

enum Input { kP, kG, kM, kV, kStep, kLr };

// Constraints.
//   C1  p is floating point.
//   C2  g, m and v have the type of p.
//   C3  lr is floating point and 0-d.
//   C4  step is numeric and 0-d.
//   C5  0 <= beta1 < 1 and 0 <= beta2 < 1.
//   C6  epsilon is not negative.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require_optimizer_inputs(in, {"g", "m", "v"}, kLr);
  require_moments(in[kStep], attrs.beta1, attrs.beta2, attrs.epsilon);
  const TensorType& p = in[kP];
  return {p, p, p};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensors w = widen_inputs(in, 4);
  const Tensor& p = w[kP];
  const Tensor step = cast(in[kStep], p->type.dtype);
  const Tensor lr = to_dtype(in[kLr], p->type.dtype);
  const Moments next =
      next_moments(w[kG], w[kM], w[kV], step, attrs.beta1, attrs.beta2, attrs.epsilon);
  const Tensor kept = p * (1.0 - attrs.weight_decay * lr);
  const Tensor rate = lr / next.weight;
  return narrow_results({kept - rate * next.m / next.size, next.m, next.v}, in[kP]->type.dtype);
}

Cases<Attrs> cases() {
  const CaseTensor p = f32({1, 2}), g = f32({2, -4}), none = f32({0, 0}), first = i64({}, {1});
  return {
      // With bias correction, the first step has the size of the learning rate for any gradient.
      {.name = "example",
       .attrs = {.beta1 = 0.5, .beta2 = 0.75, .epsilon = 0, .weight_decay = 0.25},
       .inputs = {p, g, none, none, first, scalar(0.5)},
       .expect = {f32({0.375, 2.25}), f32({1, -2}), f32({1, 4})},
       .n_outputs = 3},
      {.name = "first_step_by_default",
       .inputs = {p, g, none, none, first, scalar(0.001)},
       .expect = {f32({0.99899, 2.00098}), f32({0.2, -0.4}), f32({0.004, 0.016})},
       .n_outputs = 3},
      {.name = "second_step",
       .attrs = {.beta1 = 0.5, .beta2 = 0.75, .epsilon = 0, .weight_decay = 0},
       .inputs = {f32({1}), f32({2}), f32({1}), f32({1}), i64({}, {2}), scalar(0.75)},
       .expect = {f32({0.25}), f32({1.5}), f32({1.75})},
       .n_outputs = 3},
      {.name = "epsilon",
       .attrs = {.beta1 = 0.5, .beta2 = 0.75, .epsilon = 2, .weight_decay = 0},
       .inputs = {p, g, none, none, first, scalar(0.5)},
       .expect = {f32({0.75, 2.3333333333333335}), f32({1, -2}), f32({1, 4})},
       .n_outputs = 3},
      {.name = "half",
       .attrs = {.beta1 = 0.5, .beta2 = 0.75, .weight_decay = 0.5},
       .inputs = {f16({1}), f16({2}), f16({0}), f16({0}), first, f32({}, {0.5})},
       .expect = {f16({0.25}), f16({1}), f16({1})},
       .n_outputs = 3},
      {.name = "no_elements",
       .inputs = {uniform({0}), uniform({0}), uniform({0}), uniform({0}), first, scalar(1)},
       .n_outputs = 3},
      {.name = "integers",
       .inputs = {i32({1}), i32({1}), i32({1}), i32({1}), first, f32({}, {1})},
       .error = "C1"},
      {.name = "moment_differs", .inputs = {p, g, f32({1}), none, first, scalar(1)}, .error = "C2"},
      {.name = "rate_has_an_axis", .inputs = {p, g, none, none, first, f32({1})}, .error = "C3"},
      {.name = "step_has_an_axis",
       .inputs = {p, g, none, none, i64({1}), scalar(1)},
       .error = "C4"},
      {.name = "beta_of_one",
       .attrs = {.beta2 = 1},
       .inputs = {p, g, none, none, first, scalar(1)},
       .error = "C5"},
      {.name = "negative_epsilon",
       .attrs = {.epsilon = -1},
       .inputs = {p, g, none, none, first, scalar(1)},
       .error = "C6"},
  };
}

}  // namespace

OpDef adamw_def() {
  return define<Attrs>({
      .name = "adamw",
      .summary = "An Adam step with decoupled weight decay of the parameter.",
      .formula = "new_m = beta1 * m + (1 - beta1) * g; new_v = beta2 * v + (1 - beta2) * g^2; "
                 "new_p = p * (1 - lr * weight_decay) - lr * (new_m / (1 - beta1^step)) / "
                 "(sqrt(new_v / (1 - beta2^step)) + epsilon)",
      .inputs = {{"p", "the parameter"},
                 {"g", "its gradient"},
                 {"m", "the moving average of gradients, zeros before the first step"},
                 {"v", "the moving average of squared gradients, zeros before the first step"},
                 {"step", "the step number, 0-d; the first step is 1"},
                 {"lr", "the learning rate, 0-d"}},
      .outputs = {{"new_p", "the parameter after the step"},
                  {"new_m", "the moving average of gradients"},
                  {"new_v", "the moving average of squared gradients"}},
      .attrs_doc = {{"beta1", "The decay rate of the moving average of gradients."},
                    {"beta2", "The decay rate of the moving average of squared gradients."},
                    {"epsilon", "Added to the root of the average of squared gradients."},
                    {"weight_decay",
                     "The fraction of the parameter that a step with learning rate 1 subtracts."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .no_gradient = kNoStepGradient,
  });
}

}  // namespace tenon::ops
