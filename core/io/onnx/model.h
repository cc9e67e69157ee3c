// An ONNX model as parsed from its file: graphs of nodes, attributes and initialisers. Parsing does
// not interpret ops; run.h runs a model.

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
  std::string refers_to;  // Name of the enclosing function's attribute that this one refers to;
                          // empty if none.
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
  std::string domain;                // Empty for the ONNX domain.
  std::string overload;              // Distinguishes functions with the same name.
  std::vector<std::string> inputs;   // An absent optional input has an empty name.
  std::vector<std::string> outputs;  // An unused output has an empty name.
  std::vector<Attribute> attributes;
};

// One size of a declared shape: a number, a symbol's name, or unknown (-1 without a name).
struct Dimension {
  int64_t size = -1;
  std::string name;
};

// An input or output of a graph, and its declared type.
struct ValueInfo {
  std::string name;
  bool is_tensor = true;  // False for a sequence, an optional or a map.
  int64_t element = 0;
  std::optional<std::vector<Dimension>> shape;
};
std::string to_string(
    const ValueInfo& value);  // Returns, for example, f32[2,N], tensor(string) or "no tensor".

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<TensorData> initializers;
  std::vector<ValueInfo> inputs;  // Inputs without an initialiser.
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> values;  // Declared types of intermediate values.
};

struct OperatorSet {
  std::string domain;
  int64_t version = 0;
};

// Returns the version of the operator set for a domain; 0 if `sets` does not contain the domain.
int64_t version_of(std::span<const OperatorSet> sets, std::string_view domain);

// A function that the model defines: an op whose graph of other ops is in the file.
struct ModelFunction {
  std::string name, domain, overload;
  std::string doc;
  std::vector<OperatorSet> operator_sets;
  std::vector<std::string> attributes;  // Names of attributes without a default.
  std::vector<Attribute> defaults;
  Graph graph;  // Its inputs and outputs have names but no types.
};

struct Model {
  std::vector<OperatorSet> operator_sets;
  std::vector<ModelFunction> functions;
  Graph graph;

  int64_t version_of(std::string_view domain) const {
    return onnx::version_of(operator_sets, domain);
  }
  // Returns the function that a node calls; NULL if the node calls an op.
  const ModelFunction* find_function(const Node& node) const;
  std::unordered_map<std::string, size_t> function_indices;  // Keyed by domain, name and overload.
};

// Parses a model. The result refers to `bytes`, which must outlive it. Throws DATA_LOSS with the
// byte offset of the error if the bytes are malformed.
Model parse_model(std::string_view bytes);

// Throws DATA_LOSS if a value is defined twice or read before it is computed, if functions call
// each other recursively, or if an initialiser does not match its declared type.
void check_model(const Model& model);

// Whether a type matches the declaration of a value, as far as both are known.
bool matches_declaration(const ValueInfo& value, const TensorType& type);
// Throws DATA_LOSS if the type does not match the declaration.
void require_declared(const ValueInfo& value, const TensorType& type);

// Calls `visit` for each graph in a node's attributes.
template <class Visit>
void each_inner_graph(const Node& node, const Visit& visit) {
  for (const Attribute& attribute : node.attributes) {
    if (attribute.graph) visit(*attribute.graph);
  }
}

}  // namespace tenon::onnx
