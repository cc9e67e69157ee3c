#include "core/io/onnx/initializer_purposes.h"

#include <optional>
#include <span>

#include "core/base/search.h"

namespace tenon::onnx {
namespace {

// Returns the role of an input of an op whose floating-point inputs are not trained: running
// statistics, or numbers that are read during tracing.
std::optional<Purpose> purpose_of_input(const Node& node, size_t i) {
  struct Slot {
    std::string_view op;
    size_t first, last;
    Purpose purpose;
  };
  static constexpr Slot kSlots[] = {
      {"BatchNormalization", 3, 4, Purpose::kStatistic},
      {"Resize", 1, 2, Purpose::kConstant},
      {"Upsample", 1, 1, Purpose::kConstant},
      {"Range", 0, 2, Purpose::kConstant},
      {"OneHot", 1, 2, Purpose::kConstant},
      {"Dropout", 1, 1, Purpose::kConstant},
  };
  for (const Slot& slot : kSlots) {
    if (node.op == slot.op && i >= slot.first && i <= slot.last) return slot.purpose;
  }
  return std::nullopt;
}

}  // namespace

void Purposes::visit(const Graph& graph) {
  constexpr std::string_view kArithmetic[] = {"Add", "Sub", "Mul", "Div"};
  constexpr std::string_view kOthers[] = {"Cast",    "Gather",  "Slice", "Concat", "Unsqueeze",
                                          "Squeeze", "Reshape", "Floor", "Ceil",   "Identity"};
  for (const Node& node : graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (const auto purpose = purpose_of_input(node, i)) purposes_[node.inputs[i]] = *purpose;
    }
    each_inner_graph(node, [&](const Graph& inner) { visit(inner); });
    const bool is_arithmetic = contains(std::span(kArithmetic), node.op);
    bool of_sizes = node.op == "Shape" || node.op == "Size";
    for (size_t i = 0; i < node.inputs.size() && !of_sizes; ++i) {
      const bool counts = is_arithmetic || (i == 0 && contains(std::span(kOthers), node.op));
      of_sizes = counts && sizes_.contains(node.inputs[i]);
    }
    if (!of_sizes) continue;
    sizes_.insert(node.outputs.begin(), node.outputs.end());
    for (const std::string& input : node.inputs) {
      if (is_arithmetic) purposes_.emplace(input, Purpose::kConstant);
    }
  }
}

}  // namespace tenon::onnx
