// softmax_cross_entropy: the cross entropy between given probabilities and the softmax of logits.

#include <limits>

#include "core/ops/losses/loss.h"

namespace tenon::ops {
namespace {

// The axis of classes, which a reduction keeps with size 1.
Along classes() { return {.axes = {1}, .keepdims = true}; }

// Constraints.
//   C1  logits and labels are floating point and of one dtype.
//   C2  logits has two axes: examples, and at least one class.
//   C3  labels has the shape of logits.
TensorTypes infer(const LossAttrs& attrs, TypeSpan in) {
  const TensorType &logits = in[0], &labels = in[1];
  require(is_floating(logits.dtype) && logits.dtype == labels.dtype,
          "C1: logits and labels must be floating point and of one dtype, but are {} and {}",
          logits, labels);
  require(logits.rank() == 2 && logits.shape[1] > 0,
          "C2: logits must have two axes, examples and classes, but is {}", logits);
  require(labels.shape == logits.shape, "C3: labels must have the shape of logits: {}, but is {}",
          logits, labels);
  return {reduced_type(TensorType(logits.dtype, {logits.shape[0]}), attrs.reduction), logits};
}

Tensors decompose(const LossAttrs& attrs, TensorSpan in) {
  const Tensor log_probs = log_softmax(in[0], 1);
  // A class with probability 0 adds 0, even if its log-probability is minus infinity.
  const Tensor terms = where(equal(in[1], number(0)), number(0), in[1] * log_probs);
  const Tensor losses = -sum(terms, {.axes = {1}});
  return {reduce_losses(losses, attrs.reduction), log_probs};
}

// The labels of an example need not sum to 1. The derivative is softmax(logits) times their sum,
// minus the labels.
Tensors vjp(const LossAttrs& attrs, const VjpArgs& v) {
  const Tensor &labels = v.input(1), &log_probs = v.output(1);
  const Size n = v.input_type(0).shape[0];
  const Tensor each = unreduce_losses(v.cotangent(0), n, attrs.reduction);
  const Tensor row = attrs.reduction == Reduction::kNone ? reshape(each, {n, 1}) : each;
  Tensors grads(2, Tensor());
  if (v.needs(0)) {
    const Tensor probs = exp(log_probs);
    grads[0] = (probs * sum(labels, classes()) - labels) * row;
    if (v.has_cotangent(1)) {
      const Tensor& dlog_probs = v.cotangent(1);
      grads[0] = grads[0] + (dlog_probs - probs * sum(dlog_probs, classes()));
    }
  }
  if (v.needs(1)) grads[1] = -log_probs * row;
  return grads;
}

Cases<LossAttrs> cases() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const CaseTensor logits = f32({2, 3}, {1, 2, 3, 0, 0, 0});
  const CaseTensor labels = f32({2, 3}, {0, 0, 1, 0.5, 0.25, 0.25});
  const CaseTensor log_probs =
      f32({2, 3}, {-2.4076059644443806, -1.4076059644443806, -0.4076059644443806,
                   -1.0986122886681098, -1.0986122886681098, -1.0986122886681098});
  return {
      {.name = "example",
       .inputs = {logits, labels},
       .expect = {f32({}, {0.7531091265562452}), log_probs},
       .n_outputs = 2},
      {.name = "sum",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {logits, labels},
       .expect = {f32({}, {1.5062182531124904}), log_probs},
       .n_outputs = 2},
      {.name = "none",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {logits, labels},
       .expect = {f32({0.4076059644443806, 1.0986122886681098}), log_probs},
       .n_outputs = 2},
      {.name = "loss_alone", .inputs = {uniform({4, 5}), uniform({4, 5}, 0, 1)}},
      {.name = "large_logits",
       .inputs = {f32({1, 2}, {1e4, 0}), f32({1, 2}, {0, 1})},
       .expect = {f32({}, {1e4})}},
      {.name = "impossible_classes_that_were_not_expected",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {f32({2, 2}, {-kInf, 0, 3, -kInf}), f32({2, 2}, {0, 1, 1, 0})},
       .expect = {f32({0, 0})},
       .check_gradient = false},
      {.name = "no_examples",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {f32({0, 3}, {}), f32({0, 3}, {})},
       .expect = {f32({}, {0}), f32({0, 3}, {})},
       .n_outputs = 2},
      {.name = "integers", .inputs = {i32({1, 1}, {1}), i32({1, 1}, {1})}, .error = "C1"},
      {.name = "no_examples_axis", .inputs = {uniform({3}), uniform({3})}, .error = "C2"},
      {.name = "shapes_differ", .inputs = {logits, uniform({2, 1})}, .error = "C3"},
  };
}

}  // namespace

OpDef softmax_cross_entropy_def() {
  return define<LossAttrs>({
      .name = "softmax_cross_entropy",
      .summary = "The cross entropy between given class probabilities and the softmax of logits.",
      .formula = "loss = mean(-sum(labels[n, c] * log_softmax(logits)[n, c] for c) for n)",
      .inputs = {{"logits", "the logits, with a row for each example and a column for each class"},
                 {"labels", "the target probabilities of the classes"}},
      .outputs = {{"loss", "the loss, 0-d, or with reduction none one for each example"},
                  {"log_probs", "the value of log_softmax(logits)"}},
      .attrs_doc = {{"reduction", kReductionDoc}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kSome,
      .saved_inputs = 0b10,
      .saved_outputs = 0b10,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
