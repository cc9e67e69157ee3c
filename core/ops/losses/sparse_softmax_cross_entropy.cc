// sparse_softmax_cross_entropy: the cross entropy between one class per example and the softmax of
// logits.

#include "core/ops/losses/loss.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  logits is floating point.
//   C2  labels is i32 or i64.
//   C3  logits has two axes: examples, and at least one class.
//   C4  labels has one element for each example.
//   C5  Each label is in [-C, C), where C is the number of classes; a negative one counts from the
//       end. Kernels check this when they read the labels.
TensorTypes infer(const LossAttrs& attrs, TypeSpan in) {
  const TensorType &logits = in[0], &labels = in[1];
  require(is_floating(logits.dtype), "C1: logits must be floating point, but is {}", logits.dtype);
  require(labels.dtype == DType::kI32 || labels.dtype == DType::kI64,
          "C2: labels must be i32 or i64, but is {}", labels.dtype);
  require(logits.rank() == 2 && logits.shape[1] > 0,
          "C3: logits must have two axes, examples and classes, but is {}", logits);
  require(labels.rank() == 1 && labels.shape[0] == logits.shape[0],
          "C4: labels must have one element for each of {} examples, but is {}", logits.shape[0],
          labels);
  return {reduced_type(TensorType(logits.dtype, {logits.shape[0]}), attrs.reduction), logits};
}

Tensors decompose(const LossAttrs& attrs, TensorSpan in) {
  const Tensor log_probs = log_softmax(in[0], 1);
  const Tensor chosen = gather_elements(log_probs, expand_dims(in[1], {1}), 1);
  return {reduce_losses(-squeeze(chosen, {1}), attrs.reduction), log_probs};
}

Tensors vjp(const LossAttrs& attrs, const VjpArgs& v) {
  const Tensor &labels = v.input(1), &log_probs = v.output(1);
  const TensorType& logits = v.input_type(0);
  const Size n = logits.shape[0];
  const Tensor each = unreduce_losses(v.cotangent(0), n, attrs.reduction);
  const Tensor row = attrs.reduction == Reduction::kNone ? reshape(each, {n, 1}) : each;
  const Tensor probs = exp(log_probs);
  Tensor dlogits = (probs - one_hot(labels, logits.shape[1], logits.dtype)) * row;
  if (v.has_cotangent(1)) {
    const Tensor& dlog_probs = v.cotangent(1);
    dlogits = dlogits + (dlog_probs - probs * sum(dlog_probs, {.axes = {1}, .keepdims = true}));
  }
  return {dlogits, Tensor()};
}

Cases<LossAttrs> cases() {
  const CaseTensor logits = f32({2, 3}, {1, 2, 3, 0, 0, 0}), labels = i64({1, 0});
  const CaseTensor log_probs =
      f32({2, 3}, {-2.4076059644443806, -1.4076059644443806, -0.4076059644443806,
                   -1.0986122886681098, -1.0986122886681098, -1.0986122886681098});
  return {
      {.name = "example",
       .inputs = {logits, labels},
       .expect = {f32({}, {1.2531091265562452}), log_probs},
       .n_outputs = 2},
      {.name = "sum",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {logits, labels},
       .expect = {f32({}, {2.5062182531124904}), log_probs},
       .n_outputs = 2},
      {.name = "none",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {logits, labels},
       .expect = {f32({1.4076059644443806, 1.0986122886681098}), log_probs},
       .n_outputs = 2},
      {.name = "loss_alone", .inputs = {uniform({4, 5}), i32({0, 4, 2, 2})}},
      {.name = "large_logits",
       .inputs = {f32({1, 2}, {1e4, 0}), i64({1})},
       .expect = {f32({}, {1e4})}},
      {.name = "no_examples",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {f32({0, 3}, {}), i64({0}, {})},
       .expect = {f32({}, {0}), f32({0, 3}, {})},
       .n_outputs = 2},
      {.name = "integers", .inputs = {i32({1, 1}, {1}), i64({0})}, .error = "C1"},
      {.name = "floating_labels", .inputs = {uniform({1, 2}), f32({0})}, .error = "C2"},
      {.name = "no_classes", .inputs = {uniform({2, 0}), labels}, .error = "C3"},
      {.name = "label_counts_from_the_end",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {logits, i32({-2, -1})},
       .expect = {f32({1.4076059644443806, 1.0986122886681098})}},
      {.name = "no_such_class",
       .inputs = {logits, i64({1, 3})},
       .error = "index 3 is outside [0, 3)"},
      {.name = "a_label_too_many", .inputs = {logits, i64({0, 1, 2})}, .error = "C4"},
  };
}

}  // namespace

OpDef sparse_softmax_cross_entropy_def() {
  return define<LossAttrs>({
      .name = "sparse_softmax_cross_entropy",
      .summary =
          "The cross entropy between the correct class of each example and the softmax of logits.",
      .formula = "loss = mean(-log_softmax(logits)[n, labels[n]] for n)",
      .details = "A label out of range is an error, and its loss counts as 0.",
      .inputs = {{"logits", "the logits, with a row for each example and a column for each class"},
                 {"labels", "the index of the correct class of each example"}},
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
      .numeric = Numeric::kComposite,
      .index_rule = "C5",
  });
}

}  // namespace tenon::ops
