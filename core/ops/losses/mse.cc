// mse: the mean squared error.

#include "core/ops/losses/loss.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x and target are floating point and of one dtype.
//   C2  target has the shape of x. It is not broadcast, because that is usually a mistake.
constexpr auto infer = infer_elementwise_loss;

Tensors decompose(const LossAttrs& attrs, TensorSpan in) {
  const Tensor difference = in[0] - in[1];
  return {reduce_losses(difference * difference, attrs.reduction)};
}

Tensors vjp(const LossAttrs& attrs, const VjpArgs& v) {
  const Tensor difference = v.input(0) - v.input(1);
  const Tensor each =
      unreduce_losses(v.cotangent(0), count(v.input_type(0).shape), attrs.reduction);
  const Tensor dx = (2.0 * each) * difference;
  return {dx, v.needs(1) ? -dx : Tensor()};
}

Cases<LossAttrs> cases() {
  const CaseTensor x = f32({2, 2}, {1, 2, 3, 4}), target = f32({2, 2}, {1, 0, 4, 1});
  return {
      {.name = "example", .inputs = {x, target}, .expect = {f32({}, {3.5})}},
      {.name = "sum",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {x, target},
       .expect = {f32({}, {14})}},
      {.name = "none",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {x, target},
       .expect = {f32({2, 2}, {0, 4, 1, 9})}},
      {.name = "sum_of_nothing",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {f32({0}, {}), f32({0}, {})},
       .expect = {f32({}, {0})}},
      {.name = "integers", .inputs = {i32({1}), i32({1})}, .error = "C1"},
      {.name = "target_would_broadcast", .inputs = {uniform({3, 1}), uniform({3})}, .error = "C2"},
  };
}

}  // namespace

OpDef mse_def() {
  return define<LossAttrs>({
      .name = "mse",
      .summary = "The mean squared error.",
      .formula = "loss = mean((x - target)^2)",
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
