#include "core/trace/graph/graph.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/work_steps.h"

namespace tenon {

namespace {

// Makes a name valid in the text form.
std::string make_valid_name(std::string name) {
  for (char& c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!fits) c = '_';
  }
  return name.empty() || name[0] > '9' ? name : "_" + name;
}

}  // namespace

std::string Graph::fresh_name() {
  std::string name;
  do {
    count_steps();
    name = "v" + std::to_string(next_name_++);
  } while (names_.contains(name));
  return name;
}

Node& Graph::add(Node node, std::string name) {
  count_steps(1 + node.inputs.size());
  name = make_valid_name(std::move(name));
  node.names.resize(node.types.size());
  for (std::string& own : node.names) {
    own = name.empty() || names_.contains(name) ? fresh_name() : std::move(name);
    name.clear();
    names_.insert(own);
  }
  node.first_slot = n_slots_;
  n_slots_ += static_cast<uint32_t>(node.types.size());
  nodes_.push_back(std::move(node));
  return nodes_.back();
}

Value Graph::add_input(const TensorType& type, InputRole role, std::string name, Device& device) {
  Node node;
  node.device = &device;
  node.kind = NodeKind::kInput;
  node.types.push_back(type);
  node.role = role;
  inputs_.push_back(&add(std::move(node), std::move(name)));
  return inputs_.back()->output();
}

Value Graph::add_constant(const TensorImpl& scalar) {
  Node node;
  node.kind = NodeKind::kConstant;
  node.types.push_back(scalar.type);
  node.constant = alias_of(scalar);
  return add(std::move(node)).output();
}

Node& Graph::add_call(const OpDef& op, AnyAttrs attrs, Values inputs, TensorTypes types,
                      Device& device) {
  Node node;
  node.device = &device;
  node.op = &op;
  node.attrs = OwnedAttrs(attrs);
  node.inputs = std::move(inputs);
  node.types = std::move(types);
  if (!size_origins_.empty()) {
    visit_sizes(attrs, [&](const Size& size) {
      for (const size_t symbol : sizes_->data_dependent_symbols_of(size))
        add_size_inputs(node, symbol);
    });
  }
  return add(std::move(node));
}

void Graph::add_size_inputs(Node& node, size_t symbol) const {
  const auto [first, last] = size_origins_.equal_range(symbol);
  for (auto at = first; at != last; ++at) {
    count_steps();
    const Value& value = at->second;
    const auto given = node.inputs.span().last(node.n_sizes);
    if (std::find(given.begin(), given.end(), value) != given.end()) continue;
    node.inputs.push_back(value);
    ++node.n_sizes;
  }
}

Node& Graph::add_copy(const Node& node, Values inputs) {
  Node copy = node;
  copy.inputs = std::move(inputs);
  Node& made = add(std::move(copy));
  for (uint32_t i = 0; i < made.types.size(); ++i) {
    if (!names_.contains(node.names[i])) rename(made.output(i), node.names[i]);
  }
  return made;
}

std::vector<Value> first_outputs_of(std::span<Node* const> nodes) {
  std::vector<Value> values;
  for (Node* node : nodes) values.push_back(node->output());
  return values;
}

TensorType substitute_sizes(const Graph& graph, TensorType type, std::span<const Size> sizes) {
  for (size_t i = 0; i < type.rank(); ++i) {
    if (!type.shape[i].known()) type.shape[i] = graph.sizes().evaluate(type.shape[i], sizes);
  }
  return type;
}

void Graph::rename(Value value, std::string name) {
  std::string& own = value.node->names[value.index];
  if (own == name) return;
  require(names_.insert(name).second, "two values are named {}", name);
  names_.erase(own);
  own = std::move(name);
}

}  // namespace tenon
