// huber: the Huber loss: half the squared difference up to `delta`, and linear beyond it.

#include "core/ops/losses/loss.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Reduction reduction = Reduction::kMean;  // How the losses of all elements are combined.
  double delta = 1;                        // The distance beyond which the loss is linear.
  TENON_ATTRS(reduction, delta)
};

// Constraints.
//   C1  x and target are floating point and of one dtype.
//   C2  target has the shape of x. It is not broadcast, because that is usually a mistake.
//   C3  delta is positive.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require(attrs.delta > 0, "C3: delta must be positive, but is {}", attrs.delta);
  return infer_elementwise_loss({attrs.reduction}, in);
}

// Computes c (|d| - c / 2) with c = min(|d|, delta), which covers the quadratic and the linear
// case.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor distance = abs(in[0] - in[1]);
  const Tensor curved = minimum(distance, number(attrs.delta));
  return {reduce_losses(curved * (distance - 0.5 * curved), attrs.reduction)};
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor each =
      unreduce_losses(v.cotangent(0), count(v.input_type(0).shape), attrs.reduction);
  const Tensor difference = v.input(0) - v.input(1);
  const Tensor dx = each * clip(difference, number(-attrs.delta), number(attrs.delta));
  return {dx, v.needs(1) ? -dx : Tensor()};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 2}, {1, 2, 3, 4}), target = f32({2, 2}, {1, 1.5, 6, 0});
  return {
      {.name = "example", .inputs = {x, target}, .expect = {f32({}, {1.53125})}},
      {.name = "sum",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {x, target},
       .expect = {f32({}, {6.125})}},
      {.name = "none",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {x, target},
       .expect = {f32({2, 2}, {0, 0.125, 2.5, 3.5})}},
      {.name = "delta",
       .attrs = {.reduction = Reduction::kNone, .delta = 3},
       .inputs = {x, target},
       .expect = {f32({2, 2}, {0, 0.125, 4.5, 7.5})},
       .check_gradient = false},
      {.name = "drawn", .attrs = {.delta = 0.5}, .inputs = {uniform({3, 4}), uniform({3, 4})}},
      {.name = "sum_of_nothing",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {f32({0}, {}), f32({0}, {})},
       .expect = {f32({}, {0})}},
      {.name = "integers", .inputs = {i32({1}), i32({1})}, .error = "C1"},
      {.name = "target_would_broadcast", .inputs = {uniform({3, 1}), uniform({3})}, .error = "C2"},
      {.name = "no_delta", .attrs = {.delta = 0}, .inputs = {x, target}, .error = "C3"},
  };
}

}  // namespace

OpDef huber_def() {
  return define<Attrs>({
      .name = "huber",
      .summary =
          "The Huber loss: half the squared difference, but linear beyond a distance of delta.",
      .formula = "loss = mean(|d| <= delta ? d^2 / 2 : delta * (|d| - delta / 2)), d = x - target",
      .inputs = {{"x", "the predictions"}, {"target", "the true values"}},
      .outputs = {{"loss", "the loss: 0-d, or of the type of x if reduction is none"}},
      .attrs_doc = {{"reduction", kReductionDoc},
                    {"delta", "The distance beyond which the loss is linear; positive."}},
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
