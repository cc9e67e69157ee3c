// The adapter of SoftmaxCrossEntropyLoss.

#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {

// Computes log_softmax, which is output 1, and the negative log likelihood loss, which is output 0.
Tensors softmax_cross_entropy_loss(const NodeCall& n) {
  const Tensor log_probs = log_softmax(n.in(0), 1);
  std::vector<NamedAttr> attrs = {{"reduction", n.attr_text("reduction", "mean")}};
  if (n.has_attr("ignore_index")) attrs.push_back({"ignore_index", n.attr("ignore_index", 0)});
  const Tensor inputs[] = {log_probs, n.in(1), n.optional(2)};
  return {call_named("nll", attrs, inputs)[0], log_probs};
}

}  // namespace tenon::onnx::adapters
