#include "core/io/onnx/model.h"

#include <algorithm>
#include <set>
#include <span>

#include "core/base/error.h"

namespace tenon::onnx {
namespace {

// Maximum nesting depth of graphs, which If, Loop and Scan hold as attributes.
constexpr int kMaxDepth = 16;

// The state of the parser: the nesting depth, and the number of messages parsed so far. That number
// is limited, because a message of a few bytes may need a hundred times as much memory.
class ParseContext {
 public:
  ParseContext at_deeper() const {
    ParseContext place = *this;
    ++place.depth_;
    return place;
  }
  ParseContext in_function() const {
    ParseContext place = *this;
    place.in_function_ = true;
    return place;
  }
  explicit ParseContext(size_t& parts) : parts_(&parts) {}

  int depth() const { return depth_; }
  bool is_in_function() const { return in_function_; }
  void count(const WireReader& fields) const {
    constexpr size_t kMaxParts = size_t{1} << 21;
    if (++*parts_ > kMaxParts) fields.fail_here("exceeds the maximum of 2^21 fields in a model");
  }

 private:
  int depth_ = 0;
  bool in_function_ = false;
  size_t* parts_;
};

Graph read_graph(WireReader fields, const ParseContext& place);

// Converts the number of an attribute type; kOther if it is unknown.
AttributeKind kind_of(int64_t number) {
  const bool known = number >= 0 && number < static_cast<int64_t>(AttributeKind::kOther);
  return known ? static_cast<AttributeKind>(number) : AttributeKind::kOther;
}

// Old files omit the kind of an attribute. The field that holds the value then determines the kind.
Attribute read_attribute(WireReader fields, const ParseContext& place) {
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
        if (place.depth() == kMaxDepth) fields.fail_here("nests more than 16 graphs");
        attribute.graph = std::make_unique<Graph>(read_graph(fields.message(), place.at_deeper()));
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
        place.count(fields);
        attribute.texts.push_back(fields.text());
        found = AttributeKind::kTexts;
        break;
      case 20:
        declared = kind_of(fields.int64());
        break;
      case 21:
        if (!place.is_in_function()) {
          fields.fail_here("refers to an attribute of a function, but is outside a function");
        }
        attribute.refers_to = fields.text();
        break;
    }
  }
  attribute.kind = declared == AttributeKind::kUndefined ? found : declared;
  if (!attribute.refers_to.empty()) return attribute;
  const bool is_there = attribute.kind != AttributeKind::kTensor || attribute.tensor;
  require_code(is_there && (attribute.kind != AttributeKind::kGraph || attribute.graph),
               Code::kDataLoss, "attribute \"{}\" has no value", attribute.name);
  return attribute;
}

// Returns the domain of a node. "ai.onnx" and the empty string both mean the ONNX domain.
std::string domain_in(const WireReader& fields) {
  std::string domain = fields.text();
  return domain == "ai.onnx" ? "" : domain;
}

Node read_node(WireReader fields, const ParseContext& place) {
  Node node;
  while (fields.next()) {
    place.count(fields);
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
        node.attributes.push_back(read_attribute(fields.message(), place));
        break;
      case 7:
        node.domain = domain_in(fields);
        break;
      case 8:
        node.overload = fields.text();
        break;
    }
  }
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

void read_tensor_type(WireReader fields, ValueInfo& value, const ParseContext& place) {
  while (fields.next()) {
    if (fields.number() == 1) value.element = fields.int64();
    if (fields.number() != 2) continue;
    value.shape.emplace();
    for (WireReader shape = fields.message(); shape.next();) {
      place.count(shape);
      if (shape.number() == 1) value.shape->push_back(read_dimension(shape.message()));
    }
  }
}

ValueInfo read_value(WireReader fields, const ParseContext& place) {
  ValueInfo value;
  while (fields.next()) {
    if (fields.number() == 1) value.name = fields.text();
    if (fields.number() != 2) continue;
    for (WireReader type = fields.message(); type.next();) {
      constexpr uint32_t kTensorType = 1, kDenotation = 6;
      if (type.number() == kTensorType) {
        read_tensor_type(type.message(), value, place);
      } else if (type.number() != kDenotation) {
        value.is_tensor = false;
      }
    }
  }
  return value;
}

// Removes initialisers from the inputs. Files of IR version 3 and older list them there.
void drop_initialized_inputs(Graph& graph) {
  std::set<std::string_view> initialized;
  for (const TensorData& data : graph.initializers) initialized.insert(data.name);
  std::erase_if(graph.inputs,
                [&](const ValueInfo& input) { return initialized.contains(input.name); });
}

Graph read_graph(WireReader fields, const ParseContext& place) {
  Graph graph;
  while (fields.next()) {
    place.count(fields);
    switch (fields.number()) {
      case 1:
        graph.nodes.push_back(read_node(fields.message(), place));
        break;
      case 2:
        graph.name = fields.text();
        break;
      case 5:
        graph.initializers.push_back(read_tensor_data(fields.message()));
        break;
      case 11:
        graph.inputs.push_back(read_value(fields.message(), place));
        break;
      case 12:
        graph.outputs.push_back(read_value(fields.message(), place));
        break;
      case 13:
        graph.values.push_back(read_value(fields.message(), place));
        break;
      case 15:
        fail(Code::kUnimplemented,
             "the graph \"{}\" has sparse initialisers, which are not supported", {graph.name});
    }
  }
  drop_initialized_inputs(graph);
  return graph;
}

OperatorSet read_operator_set(WireReader fields) {
  OperatorSet set;
  while (fields.next()) {
    if (fields.number() == 1) set.domain = domain_in(fields);
    if (fields.number() == 2) set.version = fields.int64();
  }
  return set;
}

// Returns a value with this name and without a type.
ValueInfo value_named(std::string name) {
  ValueInfo value;
  value.name = std::move(name);
  return value;
}

// Returns the key of a function in Model::function_indices.
std::string full_name(const std::string& domain, const std::string& name,
                      const std::string& overload) {
  return domain + '\n' + name + '\n' + overload;
}

ModelFunction read_function(WireReader fields, const ParseContext& around) {
  const ParseContext place = around.in_function();
  ModelFunction function;
  while (fields.next()) {
    place.count(fields);
    switch (fields.number()) {
      case 1:
        function.name = fields.text();
        break;
      case 4:
        function.graph.inputs.push_back(value_named(fields.text()));
        break;
      case 5:
        function.graph.outputs.push_back(value_named(fields.text()));
        break;
      case 6:
        function.attributes.push_back(fields.text());
        break;
      case 7:
        function.graph.nodes.push_back(read_node(fields.message(), place));
        break;
      case 8:
        function.doc = fields.text();
        break;
      case 9:
        function.operator_sets.push_back(read_operator_set(fields.message()));
        break;
      case 10:
        function.domain = domain_in(fields);
        break;
      case 11:
        function.defaults.push_back(read_attribute(fields.message(), around));
        break;
      case 12:
        function.graph.values.push_back(read_value(fields.message(), place));
        break;
      case 13:
        function.overload = fields.text();
        break;
    }
  }
  function.graph.name = function.name;
  return function;
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

// Returns the version of the operator set for a domain; 0 if `sets` does not contain the domain.
int64_t version_of(std::span<const OperatorSet> sets, std::string_view domain) {
  int64_t version = 0;
  for (const OperatorSet& set : sets) {
    if (set.domain == domain) version = std::max(version, set.version);
  }
  return version;
}

const ModelFunction* Model::find_function(const Node& node) const {
  if (functions.empty()) return nullptr;
  const auto at = function_indices.find(full_name(node.domain, node.op, node.overload));
  return at == function_indices.end() ? nullptr : &functions[at->second];
}

Model parse_model(std::string_view bytes) {
  Model model;
  bool has_graph = false;
  size_t parts = 0;
  const ParseContext place(parts);
  for (WireReader fields(bytes); fields.next();) {
    switch (fields.number()) {
      case 7:
        if (has_graph) fields.fail_here("is a second graph, but a model has only one");
        model.graph = read_graph(fields.message(), place);
        has_graph = true;
        break;
      case 8:
        place.count(fields);
        model.operator_sets.push_back(read_operator_set(fields.message()));
        break;
      case 25: {
        ModelFunction function = read_function(fields.message(), place);
        const bool is_new =
            model.function_indices
                .emplace(full_name(function.domain, function.name, function.overload),
                         model.functions.size())
                .second;
        require_code(is_new, Code::kDataLoss, "the function {} is defined twice", function.name);
        model.functions.push_back(std::move(function));
        break;
      }
    }
  }
  require_code(has_graph, Code::kDataLoss, "a model of {} bytes has no graph", bytes.size());
  return model;
}

}  // namespace tenon::onnx
