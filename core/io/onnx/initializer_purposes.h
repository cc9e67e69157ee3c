// Decides which initialisers of a model are trained, by the inputs of ops that use them.

#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/io/onnx/model.h"

namespace tenon::onnx {

enum class Purpose : uint8_t {
  kTrained,
  kStatistic,  // A tensor of the computation that is not trained.
  kConstant    // A parameter of an op, such as a scale.
};

// The roles of a graph's values, keyed by name. Values that are not listed are trained. Operands of
// arithmetic on sizes, such as a factor by which an image grows, are constants.
class Purposes {
 public:
  explicit Purposes(const Graph& graph) { visit(graph); }

  Purpose of(const std::string& name) const {
    const auto at = purposes_.find(name);
    return at == purposes_.end() ? Purpose::kTrained : at->second;
  }

 private:
  void visit(const Graph& graph);

  std::unordered_map<std::string_view, Purpose> purposes_;
  std::unordered_set<std::string_view> sizes_;
};

}  // namespace tenon::onnx
