// mae: the mean absolute error.

#include "core/ops/losses/loss.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x and target are floating point and of one dtype.
//   C2  target has the shape of x. It is not broadcast, because that is usually a mistake.
constexpr auto infer = infer_elementwise_loss;

Tensors decompose(const LossAttrs& attrs, TensorSpan in) {
  return {reduce_losses(abs(in[0] - in[1]), attrs.reduction)};
}

Tensors vjp(const LossAttrs& attrs, const VjpArgs& v) {
  const Tensor each =
      unreduce_losses(v.cotangent(0), count(v.input_type(0).shape), attrs.reduction);
  const Tensor dx = each * sign(v.input(0) - v.input(1));
  return {dx, v.needs(1) ? -dx : Tensor()};
}

Cases<LossAttrs> cases() {
  const CaseTensor x = f32({2, 2}, {1, 2, 3, 4}), target = f32({2, 2}, {2, 0, 4, 0});
  return {
      {.name = "example", .inputs = {x, target}, .expect = {f32({}, {2})}},
      {.name = "sum",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {x, target},
       .expect = {f32({}, {8})}},
      {.name = "none",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {x, target},
       .expect = {f32({2, 2}, {1, 2, 1, 4})}},
      {.name = "sum_of_nothing",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {f32({0}, {}), f32({0}, {})},
       .expect = {f32({}, {0})}},
      {.name = "integers", .inputs = {i32({1}), i32({1})}, .error = "C1"},
      {.name = "target_would_broadcast", .inputs = {uniform({3, 1}), uniform({3})}, .error = "C2"},
  };
}

}  // namespace

OpDef mae_def() {
  return define<LossAttrs>({
      .name = "mae",
      .summary = "The mean absolute error.",
      .formula = "loss = mean(abs(x - target))",
      .details = "The derivative is 0 where x equals target.",
      .inputs = {{"x", "the predictions"}, {"target", "the true values"}},
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
