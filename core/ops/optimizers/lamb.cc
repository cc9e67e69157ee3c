// lamb: an adamw step whose length is scaled to the norm of the parameter.

#include "core/ops/definition/op_ids.h"
#include "core/ops/optimizers/optimizer.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double beta1 = 0.9;          // Decay rate of the moving average of gradients.
  double beta2 = 0.999;        // Decay rate of the moving average of squared gradients.
  double epsilon = 1e-6;       // Added to the square root of the average of squares.
  double weight_decay = 0.01;  // Fraction of the parameter that is added to the direction.
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

// The trust ratio: the norm of p divided by that of the direction, or 1 if either is 0.
Tensor trust_ratio(const Tensor& p, const Tensor& direction) {
  const Tensor of_p = call1(OpId::k_l2_norm, Along{}, {p});
  const Tensor of_direction = call1(OpId::k_l2_norm, Along{}, {direction});
  const Tensor has_both = logical_and(greater(of_p, number(0)), greater(of_direction, number(0)));
  return where(has_both, of_p / of_direction, number(1));
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensors w = widen_inputs(in, 4);
  const Tensor& p = w[kP];
  const Tensor step = cast(in[kStep], p->type.dtype);
  const Tensor lr = to_dtype(in[kLr], p->type.dtype);
  const Moments next =
      next_moments(w[kG], w[kM], w[kV], step, attrs.beta1, attrs.beta2, attrs.epsilon);
  const Tensor direction = next.m / next.weight / next.size + attrs.weight_decay * p;
  return narrow_results({p - lr * trust_ratio(p, direction) * direction, next.m, next.v},
                        in[kP]->type.dtype);
}

Cases<Attrs> cases() {
  const CaseTensor p = f32({3, 4}), g = f32({2, -4}), none = f32({0, 0}), first = i64({}, {1});
  return {
      // The first direction is (1, -1). It is scaled to the norm of p, which is 5.
      {.name = "example",
       .attrs = {.beta1 = 0.5, .beta2 = 0.75, .epsilon = 0, .weight_decay = 0},
       .inputs = {p, g, none, none, first, scalar(0.5)},
       .expect = {f32({1.2322330470336313, 5.767766952966369}), f32({1, -2}), f32({1, 4})},
       .n_outputs = 3},
      {.name = "weight_decay",
       .attrs = {.beta1 = 0.5, .beta2 = 0.75, .epsilon = 0, .weight_decay = 1},
       .inputs = {p, g, none, none, first, scalar(0.5)},
       .expect = {f32({1, 2.5}), f32({1, -2}), f32({1, 4})},
       .n_outputs = 3},
      {.name = "epsilon",
       .attrs = {.beta1 = 0.5, .beta2 = 0.75, .epsilon = 2, .weight_decay = 0},
       .inputs = {f32({3, 0}), f32({2, 0}), none, none, first, scalar(0.5)},
       .expect = {f32({1.5, 0}), f32({1, 0}), f32({1, 0})},
       .n_outputs = 3},
      {.name = "by_default",
       .inputs = {p, g, none, none, first, scalar(0.1)},
       .expect = {f32({2.634236313782915, 4.340906036680035}), f32({0.2, -0.4}),
                  f32({0.004, 0.016})},
       .n_outputs = 3},
      {.name = "parameter_of_zeros_takes_the_direction_as_it_is",
       .attrs = {.beta1 = 0.5, .beta2 = 0.75, .epsilon = 0},
       .inputs = {none, g, none, none, first, scalar(0.5)},
       .expect = {f32({-0.5, 0.5}), f32({1, -2}), f32({1, 4})},
       .n_outputs = 3},
      {.name = "no_gradient_no_step",
       .attrs = {.weight_decay = 0},
       .inputs = {p, none, none, none, first, scalar(0.5)},
       .expect = {p, none, none},
       .n_outputs = 3},
      {.name = "half",
       .attrs = {.beta1 = 0.5, .beta2 = 0.75, .weight_decay = 0},
       .inputs = {f16({4}), f16({2}), f16({0}), f16({0}), first, f32({}, {0.5})},
       .expect = {f16({2}), f16({1}), f16({1})},
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
       .attrs = {.beta1 = 1},
       .inputs = {p, g, none, none, first, scalar(1)},
       .error = "C5"},
      {.name = "negative_epsilon",
       .attrs = {.epsilon = -1},
       .inputs = {p, g, none, none, first, scalar(1)},
       .error = "C6"},
  };
}

}  // namespace

OpDef lamb_def() {
  return define<Attrs>({
      .name = "lamb",
      .summary = "A LAMB step: the direction of adamw, scaled to the norm of the parameter.",
      .formula = "new_m = beta1 * m + (1 - beta1) * g; new_v = beta2 * v + (1 - beta2) * g^2; "
                 "d = (new_m / (1 - beta1^step)) / (sqrt(new_v / (1 - beta2^step)) + epsilon) + "
                 "weight_decay * p; new_p = p - lr * |p| / |d| * d",
      .details = "If the norm of p or d is 0, the factor |p| / |d| is 1.",
      .inputs = {{"p", "the parameter of one layer"},
                 {"g", "its gradient"},
                 {"m", "the decaying mean of gradients, zeros before the first step"},
                 {"v", "the decaying mean of their squares, zeros before the first step"},
                 {"step", "the number of this step, 0-d; the first is 1"},
                 {"lr", "the learning rate, 0-d"}},
      .outputs = {{"new_p", "the parameter after the step"},
                  {"new_m", "the decaying mean of gradients"},
                  {"new_v", "the decaying mean of their squares"}},
      .attrs_doc = {{"beta1", "The decay rate of the mean of gradients."},
                    {"beta2", "The decay rate of the mean of their squares."},
                    {"epsilon", "Added to the square root of the mean of squares."},
                    {"weight_decay",
                     "The fraction of the parameter that is added to the direction."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .no_gradient = kNoStepGradient,
  });
}

}  // namespace tenon::ops
