#include "core/io/onnx/model.h"

#include <set>

#include "core/base/error.h"

namespace tenon::onnx {
namespace {

// Graphs inside of graphs: If and Loop hold them as attributes.
constexpr int kDeepest = 16;

Graph read_graph(WireReader fields, int depth);

AttributeKind kind_of(int64_t number) {
  const bool known = number >= 0 && number < static_cast<int64_t>(AttributeKind::kOther);
  return known ? static_cast<AttributeKind>(number) : AttributeKind::kOther;
}

// Old files leave out what kind an attribute is; then the field that it came in tells.
Attribute read_attribute(WireReader fields, int depth) {
  Attribute attribute;
  AttributeKind declared = AttributeKind::kUndefined, found = AttributeKind::kUndefined;
  while (fields.next()) {
    switch (fields.number()) {
      case 1:
        attribute.name = fields.text();
        break;
      case 2:
        attribute.float_value = fields.float32();
        found = AttributeKind::kFloat;
        break;
      case 3:
        attribute.int_value = fields.int64();
        found = AttributeKind::kInt;
        break;
      case 4:
        attribute.text = fields.text();
        found = AttributeKind::kText;
        break;
      case 5:
        attribute.tensor = std::make_unique<TensorData>(read_tensor_data(fields.message()));
        found = AttributeKind::kTensor;
        break;
      case 6:
        if (depth == kDeepest) fields.fail_here("nests graphs too deep");
        attribute.graph = std::make_unique<Graph>(read_graph(fields.message(), depth + 1));
        found = AttributeKind::kGraph;
        break;
      case 7:
        fields.append_to(attribute.floats);
        found = AttributeKind::kFloats;
        break;
      case 8:
        fields.append_to(attribute.ints);
        found = AttributeKind::kInts;
        break;
      case 9:
        attribute.texts.push_back(fields.text());
        found = AttributeKind::kTexts;
        break;
      case 20:
        declared = kind_of(fields.int64());
        break;
      case 21:
        fields.fail_here("refers to an attribute of a function, outside of one");
    }
  }
  attribute.kind = declared == AttributeKind::kUndefined ? found : declared;
  const bool is_there = attribute.kind != AttributeKind::kTensor || attribute.tensor;
  require_code(is_there && (attribute.kind != AttributeKind::kGraph || attribute.graph),
               Code::kDataLoss, "attribute \"{}\" has no value", attribute.name);
  return attribute;
}

Node read_node(WireReader fields, int depth) {
  Node node;
  while (fields.next()) {
    switch (fields.number()) {
      case 1:
        node.inputs.push_back(fields.text());
        break;
      case 2:
        node.outputs.push_back(fields.text());
        break;
      case 3:
        node.name = fields.text();
        break;
      case 4:
        node.op = fields.text();
        break;
      case 5:
        node.attributes.push_back(read_attribute(fields.message(), depth));
        break;
      case 7:
        node.domain = fields.text();
        break;
    }
  }
  if (node.domain == "ai.onnx") node.domain.clear();
  return node;
}

Dimension read_dimension(WireReader fields) {
  Dimension dimension;
  while (fields.next()) {
    if (fields.number() == 1) dimension.size = fields.int64();
    if (fields.number() == 2) dimension.name = fields.text();
  }
  return dimension;
}

void read_tensor_type(WireReader fields, ValueInfo& value) {
  while (fields.next()) {
    if (fields.number() == 1) value.element = fields.int64();
    if (fields.number() != 2) continue;
    value.shape.emplace();
    for (WireReader shape = fields.message(); shape.next();) {
      if (shape.number() == 1) value.shape->push_back(read_dimension(shape.message()));
    }
  }
}

ValueInfo read_value(WireReader fields) {
  ValueInfo value;
  while (fields.next()) {
    if (fields.number() == 1) value.name = fields.text();
    if (fields.number() != 2) continue;
    for (WireReader type = fields.message(); type.next();) {
      constexpr uint32_t kTensorType = 1, kDenotation = 6;
      if (type.number() == kTensorType) {
        read_tensor_type(type.message(), value);
      } else if (type.number() != kDenotation) {
        value.is_tensor = false;
      }
    }
  }
  return value;
}

// Older files list initialisers among the inputs, too.
void drop_initialized_inputs(Graph& graph) {
  std::set<std::string_view> initialized;
  for (const TensorData& data : graph.initializers) initialized.insert(data.name);
  std::erase_if(graph.inputs,
                [&](const ValueInfo& input) { return initialized.contains(input.name); });
}

Graph read_graph(WireReader fields, int depth) {
  Graph graph;
  while (fields.next()) {
    switch (fields.number()) {
      case 1:
        graph.nodes.push_back(read_node(fields.message(), depth));
        break;
      case 2:
        graph.name = fields.text();
        break;
      case 5:
        graph.initializers.push_back(read_tensor_data(fields.message()));
        break;
      case 11:
        graph.inputs.push_back(read_value(fields.message()));
        break;
      case 12:
        graph.outputs.push_back(read_value(fields.message()));
        break;
      case 15:
        fail(Code::kUnimplemented, "the graph \"{}\" has sparse initialisers, which are not read",
             {graph.name});
    }
  }
  drop_initialized_inputs(graph);
  return graph;
}

OperatorSet read_operator_set(WireReader fields) {
  OperatorSet set;
  while (fields.next()) {
    if (fields.number() == 1) set.domain = fields.text();
    if (fields.number() == 2) set.version = fields.int64();
  }
  if (set.domain == "ai.onnx") set.domain.clear();
  return set;
}

}  // namespace

std::string to_string(const ValueInfo& value) {
  if (!value.is_tensor) return "no tensor";
  const DType dtype = dtype_of_element(value.element);
  std::string text = dtype == DType::kNone ? "tensor(" + name_of_element(value.element) + ")"
                                           : std::string(name_of(dtype));
  if (!value.shape) return text + "[...]";
  text += '[';
  for (const Dimension& dimension : *value.shape) {
    if (text.back() != '[') text += ',';
    text += dimension.size >= 0      ? std::to_string(dimension.size)
            : dimension.name.empty() ? "?"
                                     : dimension.name;
  }
  return text + ']';
}

int64_t Model::version_of(std::string_view domain) const {
  for (const OperatorSet& set : operator_sets) {
    if (set.domain == domain) return set.version;
  }
  return 0;
}

Model parse_model(std::string_view bytes) {
  Model model;
  bool has_graph = false;
  for (WireReader fields(bytes); fields.next();) {
    if (fields.number() == 8) model.operator_sets.push_back(read_operator_set(fields.message()));
    if (fields.number() != 7) continue;
    model.graph = read_graph(fields.message(), 0);
    has_graph = true;
  }
  require_code(has_graph, Code::kDataLoss, "a model of {} bytes has no graph", bytes.size());
  return model;
}

}  // namespace tenon::onnx
