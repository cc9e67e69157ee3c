// An ONNX model as its file says it: graphs of nodes, their attributes and initialisers. Nothing is
// interpreted here; onnx/run.h gives it a meaning.

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/io/onnx/tensor_data.h"

namespace tenon::onnx {

struct Graph;

enum class AttributeKind : uint8_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kText = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kTexts = 8,
  kOther
};

struct Attribute {
  std::string name;
  std::string refers_to;  // The attribute of the function around it that stands here; else empty.
  AttributeKind kind = AttributeKind::kUndefined;
  int64_t int_value = 0;
  float float_value = 0;
  std::string text;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> texts;
  std::unique_ptr<TensorData> tensor;
  std::unique_ptr<Graph> graph;
};

struct Node {
  std::string name;
  std::string op;
  std::string domain;                // Empty for ONNX's own.
  std::string overload;              // Which function of several with one name.
  std::vector<std::string> inputs;   // Empty names for optional ones that are absent.
  std::vector<std::string> outputs;  // Empty names for those that nobody reads.
  std::vector<Attribute> attributes;
};

// A size of a declared shape: a number, a name, or neither.
struct Dimension {
  int64_t size = -1;
  std::string name;
};

// A value that enters or leaves a graph, and what is declared of it.
struct ValueInfo {
  std::string name;
  bool is_tensor = true;  // Else a sequence, an optional or a map.
  int64_t element = 0;
  std::optional<std::vector<Dimension>> shape;
};
std::string to_string(
    const ValueInfo& value);  // f32[2,N], tensor(string), f32[...], or "no tensor".

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<TensorData> initializers;
  std::vector<ValueInfo> inputs;  // Those that no initialiser stands for.
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> values;  // What is declared of others.
};

struct OperatorSet {
  std::string domain;
  int64_t version = 0;
};

// 0 if it is not among them.
int64_t version_of(std::span<const OperatorSet> sets, std::string_view domain);

// An op that the model itself defines, by other ops.
struct ModelFunction {
  std::string name, domain, overload;
  std::string doc;
  std::vector<OperatorSet> operator_sets;
  std::vector<std::string> attributes;  // Those without a default.
  std::vector<Attribute> defaults;
  Graph graph;  // Its inputs and outputs have names alone.
};

struct Model {
  std::vector<OperatorSet> operator_sets;
  std::vector<ModelFunction> functions;
  Graph graph;

  int64_t version_of(std::string_view domain) const {
    return onnx::version_of(operator_sets, domain);
  }
  // The one that a node calls; NULL if it calls none.
  const ModelFunction* find_function(const Node& node) const;
  std::unordered_map<std::string, size_t> function_places;  // By domain, name and overload.
};

// Refers to the bytes, which must outlive it. Throws DATA_LOSS that names the byte.
Model parse_model(std::string_view bytes);

// Throws DATA_LOSS where values have one name, or are read before they are made, or functions call
// each other in a circle, or a value is declared to be what it is not.
void check_model(const Model& model);

// Throws DATA_LOSS where a value is not what it is declared to be, as far as either says.
void require_declared(const ValueInfo& value, const TensorType& type);

// Visits the graphs inside of a node.
template <class Visit>
void each_inner_graph(const Node& node, const Visit& visit) {
  for (const Attribute& attribute : node.attributes) {
    if (attribute.graph) visit(*attribute.graph);
  }
}

}  // namespace tenon::onnx
