// Losses over classes, which lie along axis 1, with a weight for each class and one class to
// ignore.

#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {
namespace {

// Of each element the class that `labels` names, negated and weighted; then what becomes of all.
Tensor class_loss(const NodeCall& n, const Tensor& log_probs) {
  const Tensor& labels = n.in(1);
  const Tensor weight = n.optional(2);
  const DType dtype = log_probs->type.dtype;

  Tensor chosen = labels, ignored;
  if (n.has_attr("ignore_index")) {
    ignored = equal(labels, integer(n.attr("ignore_index", 0)));
    chosen = where(ignored, integer(0), labels);  // Any class that there is: it counts nothing.
  }
  Tensor scale = weight ? gather(weight, chosen, 0) : ones(TensorType(dtype, labels->shape()));
  if (ignored) scale = where(ignored, number(0), scale);
  const Tensor picked = gather_elements(log_probs, expand_dims(chosen, {1}), 1);
  const Tensor losses = neg(squeeze(picked, {1})) * scale;

  const std::string reduction = n.attr_text("reduction", "mean");
  if (reduction == "none") return losses;
  if (reduction == "sum") return sum(losses);
  require(reduction == "mean", "attribute reduction is \"{}\"", reduction);
  return sum(losses) / sum(scale);
}

}  // namespace

Tensors negative_log_likelihood_loss(const NodeCall& n) { return {class_loss(n, n.in(0))}; }

Tensors softmax_cross_entropy_loss(const NodeCall& n) {
  const Tensor log_probs = log_softmax(n.in(0), 1);
  return {class_loss(n, log_probs), log_probs};
}

}  // namespace tenon::onnx::adapters
