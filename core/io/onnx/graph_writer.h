// Builds the messages of an ONNX file: types, tensors, attributes, nodes, graphs, and unique names.

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

// The versions that exported files declare: the ONNX format, the ONNX operator set, and Tenon's own
// operator set.
// Returns the operator set that a model with this dtype needs, at least kOperatorSet.
int64_t operator_set_of(DType dtype);

inline constexpr int64_t kIrVersion = 10, kOperatorSet = 20, kTenonOperatorSet = 1;
inline constexpr std::string_view kTenonDomain = "tenon";

// Returns the number by which ONNX denotes a dtype (TensorProto.DataType); 0 if ONNX lacks it.
int64_t onnx_type_number(DType dtype);

using Texts = std::vector<std::string>;

class Names {
 public:
  // Reserves and returns `name` or, if it is taken, `name` followed by a number.
  std::string fresh(std::string_view name);
  // Reserves `name`. Returns false if it is taken.
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
// Returns an attribute that holds a graph.
WireWriter graph_attribute(std::string_view name, const WireWriter& graph);
// Returns an attribute that holds a tensor.
WireWriter tensor_attribute(std::string_view name, const WireWriter& tensor);
using Attributes = std::vector<WireWriter>;

// ---- tensors and types

// Returns a tensor with row-major elements.
WireWriter tensor(std::string_view name, DType dtype, std::span<const int64_t> shape,
                  std::string_view elements);
// Returns a tensor whose elements are stored in another file.
WireWriter tensor_in_file(std::string_view name, DType dtype, std::span<const int64_t> shape,
                          std::string_view file, uint64_t offset, uint64_t length);

// One size of a declared shape: a number, a symbol's name or, if neither is set, unknown.
struct DeclaredSize {
  int64_t number = -1;
  std::string name;
};
// Returns the declaration of a value.
WireWriter value_info(std::string_view name, DType dtype, std::span<const DeclaredSize> shape);

// ---- nodes, graphs, functions

// Returns a node that calls an op; "" is the domain of standard ONNX.
WireWriter node(std::string_view op, std::string_view domain, const Texts& inputs,
                const Texts& outputs, const Attributes& attributes);

struct GraphParts {
  std::string name, doc;
  std::vector<WireWriter> nodes, initializers, inputs, outputs;
};
// Returns a graph with these nodes, initialisers, inputs and outputs.
WireWriter graph(const GraphParts& parts);

// Returns the declaration that the file uses this version of a domain's operator set.
WireWriter operator_set(std::string_view domain, int64_t version);

}  // namespace tenon::onnx
