#include "core/trace/slice.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"

namespace tenon {
namespace {

template <class Visit>
void each_size(AnyAttrs attrs, const Visit& visit) {
  if (attrs.empty()) return;
  for (const AttrField& field : attrs.type->all()) {
    if (field.kind == AttrKind::kSize) {
      visit(const_cast<Size&>(field.get<Size>(attrs.data)));
    } else if (field.kind == AttrKind::kSizes) {
      for (const Size& size : field.get<Sizes>(attrs.data)) visit(const_cast<Size&>(size));
    }
  }
}

bool has_formulas(AnyAttrs attrs) {
  bool any = false;
  each_size(attrs, [&](const Size& size) { any = any || !size.known(); });
  return any;
}

// A copy in which formulas are what the symbols make of them.
OwnedAttrs evaluate(const SizeTable& table, AnyAttrs attrs, std::span<const Size> sizes) {
  OwnedAttrs result(attrs);
  each_size(result.view(), [&](Size& size) { size = table.evaluate(size, sizes); });
  return result;
}

}  // namespace

Slice::Slice(const Graph& graph, std::span<const Value> given, std::span<const Value> wanted)
    : graph_(graph) {
  enum : uint8_t { kUnneeded, kNeeded, kGiven };
  std::vector<uint8_t> state(graph.n_slots(), kUnneeded);
  for (const Value& x : given) {
    given_.push_back(x.slot());
    state[x.slot()] = kGiven;
  }
  const auto need = [&](const Value& x) {
    if (x && state[x.slot()] == kUnneeded) state[x.slot()] = kNeeded;
  };
  for (const Value& y : wanted) {
    wanted_.push_back(y.slot());
    need(y);
  }
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    bool needed = false;
    for (uint32_t i = 0; i < node->types.size(); ++i) {
      needed = needed || state[node->first_slot + i] == kNeeded;
    }
    if (!needed) continue;
    require_code(node->kind != NodeKind::kInput, Code::kFailedPrecondition,
                 "it depends on {}, which is not given", node->names[0]);
    for (const Value& x : node->inputs) need(x);
    nodes_.push_back(&*node);
  }
  std::reverse(nodes_.begin(), nodes_.end());
  for (const Node* node : nodes_) has_formulas_.push_back(has_formulas(node->attrs.view()));

  std::vector<bool> read(graph.n_slots(), false);
  for (const uint32_t slot : wanted_) read[slot] = true;
  const auto last = [&](uint32_t slot) {
    if (!read[slot]) dead_.push_back(slot);
    read[slot] = true;
  };
  for (auto at = nodes_.rbegin(); at != nodes_.rend(); ++at) {
    for (const Value& x : (*at)->inputs) {
      if (x) last(x.slot());
    }
    for (uint32_t i = 0; i < (*at)->types.size(); ++i) last((*at)->first_slot + i);
    dead_end_.push_back(static_cast<uint32_t>(dead_.size()));
  }
  std::reverse(dead_end_.begin(), dead_end_.end());
}

Tensors Slice::apply(Scope& scope, std::span<const Size> sizes, TensorSpan given) const {
  std::vector<Tensor> values(graph_.n_slots());
  for (size_t i = 0; i < given_.size(); ++i) values[given_[i]] = given[i];
  SmallVector<TensorImpl*, 6> inputs;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = *nodes_[i];
    if (node.kind == NodeKind::kConstant) {
      values[node.first_slot] = node.constant;
    } else {
      inputs.clear();
      for (const Value& x : node.inputs) inputs.push_back(x ? values[x.slot()].get() : nullptr);
      const Scope::OnDevice on(scope, *node.device);
      const Scope::AtLine at(scope, node.location);
      OwnedAttrs evaluated;
      if (has_formulas_[i]) evaluated = evaluate(graph_.sizes(), node.attrs.view(), sizes);
      const AnyAttrs attrs = has_formulas_[i] ? evaluated.view() : node.attrs.view();
      Tensors outputs = tenon::apply(scope, *node.op, attrs, inputs);
      for (uint32_t k = 0; k < outputs.size(); ++k) {
        values[node.first_slot + k] = std::move(outputs[k]);
      }
    }
    const uint32_t from = i + 1 < nodes_.size() ? dead_end_[i + 1] : 0;
    for (uint32_t k = from; k < dead_end_[i]; ++k) values[dead_[k]].reset();
  }
  Tensors results;
  for (const uint32_t slot : wanted_) results.push_back(values[slot]);
  return results;
}

}  // namespace tenon
