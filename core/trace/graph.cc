#include "core/trace/graph.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/error.h"

namespace tenon {

std::string Graph::fresh_name() {
  std::string name;
  do {
    name = "v" + std::to_string(next_name_++);
  } while (names_.contains(name));
  return name;
}

Node& Graph::add(Node node, std::string name) {
  node.names.resize(node.types.size());
  for (std::string& own : node.names) {
    own = name.empty() || names_.contains(name) ? fresh_name() : std::move(name);
    name.clear();
    names_.insert(own);
  }
  nodes_.push_back(std::move(node));
  return nodes_.back();
}

Value Graph::add_input(const TensorType& type, InputRole role, std::string name) {
  Node node;
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
  node.constant = copy_of_scalar(scalar);
  return add(std::move(node)).output();
}

Node& Graph::add_call(const OpDef& op, AnyAttrs attrs, Values inputs, TensorTypes types) {
  Node node;
  node.op = &op;
  node.attrs = OwnedAttrs(attrs);
  node.inputs = std::move(inputs);
  node.types = std::move(types);
  return add(std::move(node));
}

void Graph::rename(Value value, std::string name) {
  std::string& own = value.node->names[value.index];
  if (own == name) return;
  require(names_.insert(name).second, "two values are called {}", name);
  names_.erase(own);
  own = std::move(name);
}

size_t Graph::n_states() const {
  return static_cast<size_t>(std::ranges::count(inputs_, InputRole::kState, &Node::role));
}

void Graph::replace_uses(Value from, Value to) {
  for (Node& node : nodes_) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  std::replace(outputs_.begin(), outputs_.end(), from, to);
}

void Graph::replace_uses(Node& from, Node& to) {
  for (uint32_t i = 0; i < from.types.size(); ++i) replace_uses(from.output(i), to.output(i));
}

bool Graph::erase_unused() {
  std::unordered_map<const Node*, size_t> uses;
  for (const Value& y : outputs_) ++uses[y.node];
  for (const Node& node : nodes_) {
    for (const Value& x : node.inputs) ++uses[x.node];
  }
  bool changed = false;
  for (auto at = nodes_.end(); at != nodes_.begin();) {
    --at;
    if (at->kind == NodeKind::kInput || uses[&*at] != 0) continue;
    for (const Value& x : at->inputs) --uses[x.node];
    for (const std::string& name : at->names) names_.erase(name);
    at = nodes_.erase(at);
    changed = true;
  }
  return changed;
}

}  // namespace tenon
