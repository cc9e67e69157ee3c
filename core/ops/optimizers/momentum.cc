// momentum: a step of gradient descent with momentum.

#include "core/ops/optimizers/optimizer.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double momentum = 0.9;  // Decay rate of the accumulated gradients.
  bool nesterov = false;  // Whether to use Nesterov momentum.
  TENON_ATTRS(momentum, nesterov)
};

// Constraints.
//   C1  p is floating point.
//   C2  g and v have the type of p.
//   C3  lr is floating point and 0-d.
//   C4  0 <= momentum < 1.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require_optimizer_inputs(in, {"g", "v"}, 3);
  require_decay(attrs.momentum, "momentum", "C4");
  return {in[0], in[0]};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensors w = widen_inputs(in, 4);
  const Tensor &p = w[0], &g = w[1], &lr = w[3];
  const Tensor v = attrs.momentum * w[2] + g;
  const Tensor step = attrs.nesterov ? g + attrs.momentum * v : v;
  return narrow_results({p - lr * step, v}, in[0]->type.dtype);
}

Cases<Attrs> cases() {
  const CaseTensor p = f32({1, 2}), g = f32({1, -1}), v = f32({2, 0});
  return {
      {.name = "example",
       .attrs = {.momentum = 0.5},
       .inputs = {p, g, v, scalar(0.5)},
       .expect = {f32({0, 2.5}), f32({2, -1})},
       .n_outputs = 2},
      {.name = "default_momentum",
       .inputs = {p, g, f32({10, 0}), scalar(1)},
       .expect = {f32({-9, 3}), f32({10, -1})},
       .n_outputs = 2},
      {.name = "nesterov",
       .attrs = {.momentum = 0.5, .nesterov = true},
       .inputs = {p, g, v, scalar(0.5)},
       .expect = {f32({0, 2.75}), f32({2, -1})},
       .n_outputs = 2},
      {.name = "half",
       .attrs = {.momentum = 0.5},
       .inputs = {f16({1}), f16({1}), f16({2}), f32({}, {0.5})},
       .expect = {f16({0}), f16({2})},
       .n_outputs = 2},
      {.name = "integers", .inputs = {i32({1}), i32({1}), i32({1}), f32({}, {1})}, .error = "C1"},
      {.name = "velocity_differs", .inputs = {p, g, f32({1}), scalar(1)}, .error = "C2"},
      {.name = "rate_has_an_axis", .inputs = {p, g, v, f32({1})}, .error = "C3"},
      {.name = "momentum_of_one",
       .attrs = {.momentum = 1},
       .inputs = {p, g, v, scalar(1)},
       .error = "C4"},
  };
}

}  // namespace

OpDef momentum_def() {
  return define<Attrs>({
      .name = "momentum",
      .summary = "A step of gradient descent with momentum.",
      .formula = "new_v = momentum * v + g; "
                 "new_p = p - lr * (nesterov ? g + momentum * new_v : new_v)",
      .inputs = {{"p", "the parameter"},
                 {"g", "its gradient"},
                 {"v", "the decaying sum of gradients, zeros before the first step"},
                 {"lr", "the learning rate, 0-d"}},
      .outputs = {{"new_p", "the parameter after the step"},
                  {"new_v", "the decaying sum of gradients"}},
      .attrs_doc = {{"momentum", "The decay rate of the sum."},
                    {"nesterov", "Whether to use Nesterov momentum."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .no_gradient = kNoStepGradient,
  });
}

}  // namespace tenon::ops
