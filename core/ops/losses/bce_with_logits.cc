// bce_with_logits: binary cross entropy from logits.

#include <limits>

#include "core/ops/losses/loss.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x and target are floating point and of one dtype.
//   C2  target has the shape of x; it is not broadcast, which would usually be a mistake.
constexpr auto infer = infer_elementwise_loss;

// Computes softplus(x) - x * target as |x| * against + log1p(exp(-|x|)), which does not overflow.
// `against` is the target probability of the class that the sign of x does not predict. If it is 0,
// the first term is 0 even for an infinite x.
Tensors decompose(const LossAttrs& attrs, TensorSpan in) {
  const Tensor &x = in[0], &target = in[1];
  const Tensor against = where(greater(x, number(0)), number(1) - target, target);
  const Tensor size = abs(x);
  const Tensor wrong = where(equal(against, number(0)), number(0), size * against);
  const Tensor losses = wrong + log1p(exp(-size));
  return {reduce_losses(losses, attrs.reduction)};
}

Tensors vjp(const LossAttrs& attrs, const VjpArgs& v) {
  const Tensor &x = v.input(0), &target = v.input(1);
  const Tensor each = unreduce_losses(v.cotangent(0), count(x->shape()), attrs.reduction);
  Tensors grads(2, Tensor());
  if (v.needs(0)) grads[0] = each * (sigmoid(x) - target);
  if (v.needs(1)) grads[1] = each * -x;
  return grads;
}

Cases<LossAttrs> cases() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const CaseTensor x = f32({0, 1, -2}), target = f32({1, 0, 0.5});
  return {
      {.name = "example", .inputs = {x, target}, .expect = {f32({}, {1.0444456263737134})}},
      {.name = "sum",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {x, target},
       .expect = {f32({}, {3.1333368791211402})}},
      {.name = "none",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {x, target},
       .expect = {f32({0.6931471805599453, 1.3132616875182228, 1.1269280110429725})}},
      {.name = "large_logits",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {f32({1000, -1000, 1000, 20}), f32({1, 0, 0, 1})},
       .expect = {f32({0, 0, 1000, 2.0611536181902037e-9})}},
      {.name = "infinite_logits",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {f32({kInf, -kInf, kInf, -kInf}), f32({1, 0, 0, 1})},
       .expect = {f32({0, 0, kInf, kInf})},
       .check_gradient = false},
      {.name = "two_axes", .inputs = {uniform({2, 3}, -4, 4), uniform({2, 3}, 0, 1)}},
      {.name = "integers", .inputs = {i32({1}), i32({1})}, .error = "C1"},
      {.name = "target_would_broadcast", .inputs = {uniform({3, 1}), uniform({3})}, .error = "C2"},
  };
}

}  // namespace

OpDef bce_with_logits_def() {
  return define<LossAttrs>({
      .name = "bce_with_logits",
      .summary = "The binary cross entropy, computed from logits.",
      .formula = "loss = mean(-target * log(sigmoid(x)) - (1 - target) * log(1 - sigmoid(x)))",
      .inputs = {{"x", "the logits"}, {"target", "the probabilities of the positive class"}},
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
