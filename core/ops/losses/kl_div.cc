// kl_div: the Kullback-Leibler divergence loss of log-probabilities and target probabilities.

#include <limits>

#include "core/ops/losses/loss.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Reduction reduction = Reduction::kMean;  // How the losses of all elements are combined.
  bool log_target = false;                 // Whether target holds log-probabilities, too.
  TENON_ATTRS(reduction, log_target)
};

// Constraints.
//   C1  x and target are floating point and of one dtype.
//   C2  target has the shape of x. It is not broadcast, because that is usually a mistake.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  return infer_elementwise_loss({attrs.reduction}, in);
}

// The target as a probability and as a logarithm. If the probability is 0, the loss is 0 for every
// x, and the logarithm must not be used.
struct Target {
  Tensor is_zero, probability, logarithm;
};

// Returns the target as probabilities and as logarithms, whichever of them it holds.
Target read_target(const Attrs& attrs, const Tensor& target) {
  if (attrs.log_target) {
    const Tensor probability = exp(target);
    return {equal(probability, number(0)), probability, target};
  }
  const Tensor is_zero = equal(target, number(0));
  return {is_zero, target, log(where(is_zero, number(1), target))};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Target t = read_target(attrs, in[1]);
  const Tensor losses = where(t.is_zero, number(0), t.probability * (t.logarithm - in[0]));
  return {reduce_losses(losses, attrs.reduction)};
}

// The loss is p (ln p - x). Its derivative is ln p - x + 1 with respect to p, and p times that with
// respect to ln p.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor each =
      unreduce_losses(v.cotangent(0), count(v.input_type(0).shape), attrs.reduction);
  const Target t = read_target(attrs, v.input(1));
  Tensors grads(2, Tensor());
  if (v.needs(0)) grads[0] = -(each * t.probability);
  if (v.needs(1)) {
    const Tensor slope = t.logarithm - v.input(0) + 1.0;
    const Tensor whole = attrs.log_target ? t.probability * slope : slope;
    grads[1] = each * where(t.is_zero, number(0), whole);
  }
  return grads;
}

Cases<Attrs> cases() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const CaseTensor x = f32({-1, -2, -0.5}), target = f32({0.5, 0.25, 1});
  return {
      {.name = "example", .inputs = {x, target}, .expect = {f32({}, {0.26895093981335155})}},
      {.name = "sum",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {x, target},
       .expect = {f32({}, {0.8068528194400547})}},
      {.name = "none",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {x, target},
       .expect = {f32({0.15342640972002736, 0.15342640972002736, 0.5})}},
      {.name = "log_target",
       .attrs = {.reduction = Reduction::kNone, .log_target = true},
       .inputs = {x, f32({0, -1, -2})},
       .expect = {f32({1, 0.36787944117144233, -0.2030029248549191})}},
      {.name = "nothing_was_expected",
       .attrs = {.reduction = Reduction::kNone},
       .inputs = {f32({-kInf, -3}), f32({0, 0})},
       .expect = {f32({0, 0})},
       .check_gradient = false},
      {.name = "nothing_was_expected_in_logarithms",
       .attrs = {.reduction = Reduction::kNone, .log_target = true},
       .inputs = {f32({-kInf, -3}), f32({-kInf, -kInf})},
       .expect = {f32({0, 0})},
       .check_gradient = false},
      {.name = "drawn", .inputs = {uniform({3, 4}, -3, 0), uniform({3, 4}, 0.1, 1)}},
      {.name = "drawn_logarithms",
       .attrs = {.log_target = true},
       .inputs = {uniform({3, 4}, -3, 0), uniform({3, 4}, -3, 0)}},
      {.name = "sum_of_nothing",
       .attrs = {.reduction = Reduction::kSum},
       .inputs = {f32({0}, {}), f32({0}, {})},
       .expect = {f32({}, {0})}},
      {.name = "integers", .inputs = {i32({1}), i32({1})}, .error = "C1"},
      {.name = "target_would_broadcast", .inputs = {uniform({3, 1}), uniform({3})}, .error = "C2"},
  };
}

}  // namespace

OpDef kl_div_def() {
  return define<Attrs>({
      .name = "kl_div",
      .summary =
          "The Kullback-Leibler divergence loss of log-probabilities and target probabilities.",
      .formula = "loss = mean(target * (ln(target) - x))",
      .details = "Where the target probability is 0, the loss and its derivative with respect to "
                 "target are 0. The mean divides by the number of elements; the divergence of one "
                 "example is the sum of its losses.",
      .inputs = {{"x", "the predicted log-probabilities"},
                 {"target", "the target probabilities, or their logarithms"}},
      .outputs = {{"loss", "the loss: 0-d, or of the type of x if reduction is none"}},
      .attrs_doc = {{"reduction", kReductionDoc},
                    {"log_target", "Whether target holds log-probabilities as well."}},
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
