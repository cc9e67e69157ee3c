// hinge: the hinge loss, max(0, 1 - target * x).

#include "core/ops/losses/loss.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x and target are floating point and of one dtype.
//   C2  target has the shape of x. It is not broadcast, because that is usually a mistake.
constexpr auto infer = infer_elementwise_loss;

Tensors decompose(const LossAttrs& attrs, TensorSpan in) {
  return {reduce_losses(relu(1.0 - in[1] * in[0]), attrs.reduction)};
}

Tensors vjp(const LossAttrs& attrs, const VjpArgs& v) {
  const Tensor &x = v.input(0), &target = v.input(1);
  const Tensor each = unreduce_losses(v.cotangent(0), count(x->shape()), attrs.reduction);
  const Tensor share = where(less(target * x, number(1)), -each, number(0));
  Tensors grads(2, Tensor());
  if (v.needs(0)) grads[0] = share * target;
  if (v.needs(1)) grads[1] = share * x;
  return grads;
}

Cases<LossAttrs> cases() {
  const CaseTensor x = f32({0.5, -2, 3, 0.25}), target = f32({1, 1, -1, -1});
  return {
      {.name = "example", .inputs = {x, target}, .expect = {f32({}, {2.1875})}},
      {.name = "sum",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {x, target},
       .expect = {f32({}, {8.75})}},
      {.name = "none",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {x, target},
       .expect = {f32({0.5, 3, 4, 1.25})}},
      {.name = "beyond_the_margin",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {f32({2, -3}), f32({1, -1})},
       .expect = {f32({0, 0})}},
      {.name = "at_the_margin",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {f32({1, -1}), f32({1, -1})},
       .expect = {f32({0, 0})},
       .check_gradient = false},
      {.name = "drawn", .inputs = {uniform({3, 4}, -2, 2), uniform({3, 4}, -2, 2)}},
      {.name = "sum_of_nothing",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {f32({0}, {}), f32({0}, {})},
       .expect = {f32({}, {0})}},
      {.name = "integers", .inputs = {i32({1}), i32({1})}, .error = "C1"},
      {.name = "target_would_broadcast", .inputs = {uniform({3, 1}), uniform({3})}, .error = "C2"},
  };
}

}  // namespace

OpDef hinge_def() {
  return define<LossAttrs>({
      .name = "hinge",
      .summary = "The hinge loss of predictions.",
      .formula = "loss = mean(max(0, 1 - target * x))",
      .details = "The derivative is 0 at the margin, where target * x is 1.",
      .inputs = {{"x", "the predictions, whose signs are the predicted classes"},
                 {"target", "the true classes, 1 or -1"}},
      .outputs = {{"loss", "the loss: 0-d, or of the type of x if reduction is none"}},
      .attrs_doc = {{"reduction", kReductionDoc}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kInputs,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
