// The parts of an ONNX file as they are written: types of values, tensors, attributes, nodes, and
// names that no two values share.

#pragma once

#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/shape.h"
#include "core/io/onnx/wire_writer.h"

namespace tenon::onnx {

// What the files are written for.
inline constexpr int64_t kIrVersion = 10, kOperatorSet = 20, kTenonOperatorSet = 1;
inline constexpr std::string_view kTenonDomain = "tenon";

// The number of an element type; 0 where ONNX has none.
int64_t element_of(DType dtype);

using Texts = std::vector<std::string>;

class Names {
 public:
  // The name itself if it is free, else with a number behind it.
  std::string fresh(std::string_view name);
  // False: another value has it.
  bool take(const std::string& name) { return taken_.insert(name).second; }

 private:
  std::set<std::string> taken_;
  size_t next_ = 1;
};

// ---- attributes of nodes

WireWriter attribute(std::string_view name, int64_t value);
WireWriter attribute(std::string_view name, double value);
WireWriter attribute(std::string_view name, std::string_view value);
WireWriter attribute(std::string_view name, std::span<const int64_t> values);
WireWriter attribute(std::string_view name, const Texts& values);
WireWriter graph_attribute(std::string_view name, const WireWriter& graph);
WireWriter tensor_attribute(std::string_view name, const WireWriter& tensor);
using Attributes = std::vector<WireWriter>;

// ---- tensors and types

// Row-major elements.
WireWriter tensor(std::string_view name, DType dtype, std::span<const int64_t> shape,
                  std::string_view elements);
// One whose elements lie in another file.
WireWriter tensor_in_file(std::string_view name, DType dtype, std::span<const int64_t> shape,
                          std::string_view file, uint64_t offset, uint64_t length);

// A size of a declared shape: a number, or a name, or, empty, nothing.
struct DeclaredSize {
  int64_t number = -1;
  std::string name;
};
WireWriter value_info(std::string_view name, DType dtype, std::span<const DeclaredSize> shape);

// ---- nodes, graphs, functions

WireWriter node(std::string_view op, std::string_view domain, const Texts& inputs,
                const Texts& outputs, const Attributes& attributes);

struct GraphParts {
  std::string name, doc;
  std::vector<WireWriter> nodes, initializers, inputs, outputs;
};
WireWriter graph(const GraphParts& parts);

WireWriter operator_set(std::string_view domain, int64_t version);

}  // namespace tenon::onnx
