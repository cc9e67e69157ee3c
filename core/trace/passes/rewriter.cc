#include "core/trace/passes/rewriter.h"

#include "core/base/work_steps.h"

namespace tenon {

Rewriter::Rewriter(const Graph& from, std::span<const Node* const> inputs)
    : from_(from), to_(std::make_shared<Graph>(from.shared_sizes())), mapped_(from.n_slots()) {
  for (const Node* node : inputs) {
    mapped_[node->first_slot] =
        to_->add_input(node->types[0], node->role, node->names[0], *node->device);
  }
}

// Returns the value of the copy that corresponds to `old`; empty if `old` is empty.
Value Rewriter::operator()(const Value& old) const { return old ? mapped_[old.slot()] : Value(); }

Values Rewriter::inputs_of(const Node& node) const {
  count_steps(1 + node.inputs.size());
  Values inputs;
  for (const Value& x : node.inputs) inputs.push_back((*this)(x));
  return inputs;
}

Node& Rewriter::copy(const Node& node, Values inputs) {
  Node& made = to_->add_copy(node, std::move(inputs));
  for (uint32_t i = 0; i < made.types.size(); ++i) mapped_[node.first_slot + i] = made.output(i);
  return made;
}

void Rewriter::map_outputs(const Node& node, std::span<const Value> instead) {
  for (uint32_t i = 0; i < instead.size(); ++i) mapped_[node.first_slot + i] = instead[i];
}

std::shared_ptr<Graph> Rewriter::finish() {
  std::vector<Value> outputs;
  for (const Value& y : from_.outputs()) outputs.push_back((*this)(y));
  to_->set_outputs(std::move(outputs));
  return std::move(to_);
}

}  // namespace tenon
