// ONNX files for tests, written field by field.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/io/onnx/wire_writer.h"

namespace tenon::testing {

using onnx::WireWriter;

// ---- attributes ----

inline WireWriter int_attribute(const std::string& name, int64_t value) {
  return WireWriter().text(1, name).number(3, static_cast<uint64_t>(value)).number(20, 2);
}
inline WireWriter float_attribute(const std::string& name, float value) {
  return WireWriter().text(1, name).real(2, value).number(20, 1);
}
inline WireWriter text_attribute(const std::string& name, const std::string& value) {
  return WireWriter().text(1, name).text(4, value).number(20, 3);
}
inline WireWriter ints_attribute(const std::string& name, const std::vector<int64_t>& values) {
  WireWriter attribute;
  attribute.text(1, name);
  for (const int64_t value : values) attribute.number(8, static_cast<uint64_t>(value));
  return attribute.number(20, 7);
}
inline WireWriter graph_attribute(const std::string& name, const WireWriter& graph) {
  return WireWriter().text(1, name).message(6, graph).number(20, 5);
}

// ---- tensors, values, nodes ----

constexpr uint64_t kOnnxFloat = 1, kOnnxInt64 = 7, kOnnxBool = 9;

inline WireWriter float_tensor(const std::string& name, const std::vector<int64_t>& shape,
                               const std::vector<float>& values) {
  WireWriter tensor;
  for (const int64_t size : shape) tensor.number(1, static_cast<uint64_t>(size));
  tensor.number(2, kOnnxFloat);
  for (const float value : values) tensor.real(4, value);
  return tensor.text(8, name);
}
inline WireWriter int_tensor(const std::string& name, const std::vector<int64_t>& values) {
  WireWriter tensor;
  tensor.number(1, values.size()).number(2, kOnnxInt64);
  for (const int64_t value : values) tensor.number(7, static_cast<uint64_t>(value));
  return tensor.text(8, name);
}

// Writes a ValueInfoProto with an element type but no shape.
inline WireWriter value_info(const std::string& name, uint64_t element = kOnnxFloat) {
  const WireWriter type = WireWriter().message(1, WireWriter().number(1, element));
  return WireWriter().text(1, name).message(2, type);
}

inline WireWriter node(const std::string& op, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs,
                       const std::vector<WireWriter>& attributes = {}) {
  WireWriter n;
  for (const std::string& input : inputs) n.text(1, input);
  for (const std::string& output : outputs) n.text(2, output);
  n.text(4, op);
  for (const WireWriter& attribute : attributes) n.message(5, attribute);
  return n;
}

// ---- graphs and models ----

struct GraphParts {
  std::vector<WireWriter> nodes;
  std::vector<WireWriter> initializers;
  std::vector<WireWriter> inputs;
  std::vector<WireWriter> outputs;
};

// Writes a GraphProto.
inline WireWriter graph(const GraphParts& parts) {
  WireWriter g;
  for (const WireWriter& n : parts.nodes) g.message(1, n);
  for (const WireWriter& tensor : parts.initializers) g.message(5, tensor);
  for (const WireWriter& value : parts.inputs) g.message(11, value);
  for (const WireWriter& value : parts.outputs) g.message(12, value);
  return g;
}

// Returns the bytes of a ModelProto with this graph. `version` is the operator set version.
inline std::string model(const WireWriter& graph, uint64_t version = 17) {
  const WireWriter operators = WireWriter().text(1, "").number(2, version);
  return WireWriter().number(1, 8).message(7, graph).message(8, operators).bytes();
}

}  // namespace tenon::testing
