// sgd: one step of stochastic gradient descent.

#include "core/ops/optimizers/optimizer.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  p is floating point.
//   C2  g has the type of p.
//   C3  lr is floating point and 0-d.
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  require_optimizer_inputs(in, {"g"}, 2);
  return {in[0]};
}

Tensors decompose(const NoAttrs&, TensorSpan in) {
  const Tensors w = widen_inputs(in, 3);
  const Tensor &p = w[0], &g = w[1], &lr = w[2];
  return narrow_results({p - lr * g}, in[0]->type.dtype);
}

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({1, 2, 3}), f32({10, 0, -10}), scalar(0.5)},
       .expect = {f32({-4, 2, 8})}},
      {.name = "rate_is_a_tensor",
       .inputs = {f32({2, 1}, {1, 2}), f32({2, 1}, {4, 8}), f32({}, {0.25})},
       .expect = {f32({2, 1}, {0, 0})}},
      {.name = "half", .inputs = {f16({1}), f16({1}), f32({}, {0.5})}, .expect = {f16({0.5})}},
      {.name = "no_elements", .inputs = {uniform({0}), uniform({0}), scalar(1)}},
      {.name = "integers", .inputs = {i32({1}), i32({1}), f32({}, {1})}, .error = "C1"},
      {.name = "gradient_differs", .inputs = {f32({1, 2}), f32({1}), scalar(1)}, .error = "C2"},
      {.name = "rate_has_an_axis", .inputs = {f32({1}), f32({1}), f32({1})}, .error = "C3"},
  };
}

}  // namespace

OpDef sgd_def() {
  return define<NoAttrs>({
      .name = "sgd",
      .summary = "One step of stochastic gradient descent.",
      .formula = "new_p = p - lr * g",
      .inputs = {{"p", "the parameter"}, {"g", "its gradient"}, {"lr", "the learning rate, 0-d"}},
      .outputs = {{"new_p", "the parameter after the step"}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .no_gradient = kNoStepGradient,
  });
}

}  // namespace tenon::ops
