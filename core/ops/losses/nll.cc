// nll: the negative log-likelihood of the target classes.

#include <limits>

#include "core/ops/indexing/indexing.h"
#include "core/ops/losses/loss.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Reduction reduction = Reduction::kMean;  // How the losses of all elements are combined.
  int64_t ignore_index = -100;             // Targets with this value add nothing to the loss.
  TENON_ATTRS(reduction, ignore_index)
};

enum Input { kX, kTarget, kWeight };

// Constraints.
//   C1  target is int32 or int64, and its dtype can represent ignore_index.
//   C2  x is floating point, with at least two axes: examples, at least one class, any others.
//   C3  target has the shape of x without the axis of classes.
//   C4  weight has the dtype of x and one element for each class.
//   C5  Each target is ignore_index or in [-C, C), where C is the number of classes; a negative one
//       counts from the end. Checked when the targets are read.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[kX], &target = in[kTarget];
  require_indices(target);
  using Narrow = std::numeric_limits<int32_t>;
  const bool fits = attrs.ignore_index >= Narrow::min() && attrs.ignore_index <= Narrow::max();
  require(fits || target.dtype == DType::kI64,
          "C1: target must be int32 or int64 and able to hold ignore_index {}, but is {}",
          attrs.ignore_index, target);
  require(is_floating(x.dtype) && x.rank() >= 2 && x.shape[1] > 0,
          "C2: x must be floating point, with axes of examples and classes, but is {}", x);
  Dims each = x.shape;
  each.erase(1);
  require(target.shape == each, "C3: target must have the shape {}, but is {}", each, target);
  if (in.has(kWeight)) {
    const TensorType& weight = in[kWeight];
    require(weight.dtype == x.dtype && weight.shape == Dims{x.shape[1]},
            "C4: weight must be {} with {} elements, but is {}", x.dtype, x.shape[1], weight);
  }
  return {reduced_type(TensorType(x.dtype, each), attrs.reduction)};
}

// Half types are summed in float32. The mean is the weighted sum divided by the sum of the weights.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor &x = in[kX], &target = in[kTarget];
  const DType dtype = x->type.dtype, wide = wide_dtype(dtype);
  const Tensor counts = not_equal(target, integer(attrs.ignore_index));
  const Tensor label = where(counts, target, integer(0));
  const Tensor chosen = squeeze(gather_elements(x, expand_dims(label, {1}), 1), {1});
  Tensor losses = where(counts, -to_dtype(chosen, wide), number(0));
  Tensor weights;
  if (has(in, kWeight)) {
    const Tensor weight = to_dtype(gather(in[kWeight], label, 0), wide);
    weights = where(counts, weight, number(0));
    // A class with weight 0 adds 0, even if its loss is infinite.
    const Tensor is_nothing = logical_and(equal(weights, number(0)), isinf(losses));
    losses = where(is_nothing, number(0), losses) * weights;
  }
  if (attrs.reduction == Reduction::kNone) return {to_dtype(losses, dtype)};
  Tensor total = sum(losses);
  if (attrs.reduction == Reduction::kMean) {
    total = total / sum(weights ? weights : cast(counts, wide));
  }
  return {to_dtype(total, dtype)};
}

Cases<Attrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const CaseTensor x = f32({3, 3}, {-1, -2, -3, -4, -5, -6, -7, -8, -9}), target = i64({0, 2, 1});
  const CaseTensor weight = f32({1, 2, 0.5});
  return {
      {.name = "example", .inputs = {x, target}, .expect = {f32({}, {5})}},
      {.name = "sum",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {x, target},
       .expect = {f32({}, {15})}},
      {.name = "none",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {x, target},
       .expect = {f32({1, 6, 8})}},
      {.name = "weight",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {x, target, weight},
       .expect = {f32({1, 3, 16})}},
      {.name = "mean_by_weights",
       .inputs = {x, target, weight},
       .expect = {f32({}, {5.714285714285714})}},
      {.name = "ignored_by_default", .inputs = {x, i64({0, -100, 1})}, .expect = {f32({}, {4.5})}},
      {.name = "ignore_index",
       .attrs = {.reduction = Reduction::kNone, .ignore_index = 2},
       .inputs = {x, target},
       .expect = {f32({1, 0, 8})}},
      {.name = "ignored_with_weights",
       .attrs = {.ignore_index = 2},
       .inputs = {x, i32({0, 2, 1}), weight},
       .expect = {f32({}, {5.666666666666667})}},
      {.name = "impossible_class_of_no_weight",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {f32({2, 2}, {-kInf, -3, -kInf, -3}), i64({0, 1}), f32({0, 2})},
       .expect = {f32({0, 6})},
       .check_gradient = false},
      {.name = "nothing_counts",
       .attrs = {.ignore_index = 1},
       .inputs = {x, i64({1, 1, 1})},
       .expect = {f32({}, {kNaN})}},
      {.name = "more_axes",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {f32({1, 2, 3}, {-1, -2, -3, -4, -5, -6}), i64({1, 3}, {0, 1, 1})},
       .expect = {f32({1, 3}, {1, 5, 6})}},
      {.name = "target_counts_from_the_end",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {x, i64({-1, -2, -3})},
       .expect = {f32({3, 5, 7})}},
      {.name = "half_sums_do_not_overflow",
       .inputs = {f16({2, 1}, {-60000, -50000}), i64({0, 0})},
       .expect = {f16({}, {55008})}},
      {.name = "drawn",
       .attrs = {.ignore_index = 3},
       .inputs = {uniform({2, 4, 3}, -2, 0), i64({2, 3}, {0, 3, 1, 2, -4, 2}),
                  uniform({4}, 0.5, 2)}},
      {.name = "no_examples",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {f32({0, 3}, {}), i64({0}, {})},
       .expect = {f32({}, {0})}},
      {.name = "floating_target", .inputs = {x, f32({0, 1, 2})}, .error = "C1"},
      {.name = "ignore_index_does_not_fit",
       .attrs = {.ignore_index = 4294967296},
       .inputs = {x, i32({0, 1, 2})},
       .error = "C1"},
      {.name = "no_classes", .inputs = {uniform({2, 0}), i64({0, 0})}, .error = "C2"},
      {.name = "integers", .inputs = {i32({1, 1}, {1}), i64({0})}, .error = "C2"},
      {.name = "a_target_too_many", .inputs = {x, i64({0, 1, 2, 0})}, .error = "C3"},
      {.name = "a_weight_too_few", .inputs = {x, target, f32({1, 2})}, .error = "C4"},
      {.name = "no_such_class",
       .inputs = {x, i64({0, 1, 3})},
       .error = "index 3 is outside [0, 3)"},
  };
}

}  // namespace

OpDef nll_def() {
  return define<Attrs>({
      .name = "nll",
      .summary = "The negative log-likelihood of the target classes.",
      .formula = "loss = sum(-x[n, target[n]] * weight[target[n]] for n) / sum(weight[target[n]])",
      .details = "Without weight, all weights are 1. The loss of a class of weight 0 is 0, even if "
                 "its log-probability is infinite. A target equal to ignore_index has loss 0 and "
                 "weight 0, so the mean is taken over the other targets; it is NaN if there are "
                 "none. Half types are summed in float32.",
      .inputs = {{"x", "the log-probabilities: [N, C, ...]"},
                 {"target", "the target classes: [N, ...]"},
                 {"weight", "the weight of each class: [C]", InputKind::kOptional}},
      .outputs = {{"loss", "the loss: 0-d, or of the shape of target if reduction is none"}},
      .attrs_doc = {{"reduction",
                     "How the losses of elements are combined: none keeps them, sum adds them, "
                     "mean divides their sum by the sum of their weights."},
                    {"ignore_index", "Targets with this value are ignored."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .index_rule = "C5",
      .onnx = "NegativeLogLikelihoodLoss",
  });
}

}  // namespace tenon::ops
