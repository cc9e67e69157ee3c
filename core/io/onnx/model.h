// An ONNX model as its file says it: graphs of nodes, their attributes and initialisers. Nothing is
// interpreted here; onnx/run.h gives it a meaning.

#pragma once

#include <memory>
#include <optional>
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
};

struct OperatorSet {
  std::string domain;
  int64_t version = 0;
};

struct Model {
  std::vector<OperatorSet> operator_sets;
  Graph graph;

  int64_t version_of(std::string_view domain) const;  // 0 if the model does not import it.
};

// Refers to the bytes, which must outlive it. Throws DATA_LOSS that names the byte.
Model parse_model(std::string_view bytes);

}  // namespace tenon::onnx
