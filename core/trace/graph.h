// A program as data: nodes in an order in which they can run, each the call of an op with the
// values that it takes. A value is made once and never changes; what changes is threaded: the state
// of a variable or a generator comes in as a value and goes out as another.
//
// Sizes may be formulas over symbols of the graph's table.

#pragma once

#include <list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/size_table.h"
#include "core/ops/op.h"

namespace tenon {

class Device;
struct Node;

// One output of a node; without a node, an optional input that was not given.
struct Value {
  Node* node = nullptr;
  uint32_t index = 0;

  inline const TensorType& type() const;
  inline const std::string& name() const;
  inline uint32_t slot() const;  // Its number in its graph.
  explicit operator bool() const { return node != nullptr; }
  friend bool operator==(const Value&, const Value&) = default;
};

using Values = SmallVector<Value, 3>;

enum class NodeKind : uint8_t { kInput, kConstant, kCall };

// What an input is to the function.
enum class InputRole : uint8_t {
  kArgument,
  kCapture,  // A tensor that tracing met.
  kState     // What a variable or a generator holds; output i is what state i holds afterwards.
};

struct Node {
  NodeKind kind = NodeKind::kCall;
  InputRole role = InputRole::kArgument;  // Of an input.
  const OpDef* op = nullptr;              // Of a call; the rest of it:
  OwnedAttrs attrs;
  // The last n_sizes are no operands: sizes among the attributes are those of these values.
  Values inputs;
  uint32_t n_sizes = 0;
  Tensor constant;                 // Of a constant: an inline scalar.
  TensorTypes types;               // Of the outputs.
  std::vector<std::string> names;  // Of the outputs; each once in its graph.
  std::string location;            // The user's source line, if a binding gave it.
  Device* device = nullptr;        // Where a call runs, where an input lies.
  uint32_t first_slot = 0;         // The outputs' numbers in the graph count from here.

  Value output(uint32_t i = 0) { return {this, i}; }
  std::span<const Value> operands() const { return inputs.span().first(inputs.size() - n_sizes); }
};

const TensorType& Value::type() const { return node->types[index]; }
const std::string& Value::name() const { return node->names[index]; }
uint32_t Value::slot() const { return node->first_slot + index; }

class Graph {
 public:
  Graph() : Graph(std::make_shared<SizeTable>()) {}
  // One whose sizes are formulas of another's table: code inside of that one's.
  explicit Graph(std::shared_ptr<SizeTable> sizes) : sizes_(std::move(sizes)) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Asking about a size may decide something about it.
  SizeTable& sizes() const { return *sizes_; }
  const std::shared_ptr<SizeTable>& shared_sizes() const { return sizes_; }

  // ---- reading
  std::list<Node>& nodes() { return nodes_; }
  const std::list<Node>& nodes() const { return nodes_; }
  std::span<Node* const> inputs() const { return inputs_; }
  std::span<const Value> outputs() const { return outputs_; }
  uint32_t n_slots() const { return n_slots_; }

  // ---- building; each goes to the end, and without a name gets one that is free
  Value add_input(const TensorType& type, InputRole role, std::string name, Device& device);
  Value add_constant(const TensorImpl& scalar);
  Node& add_call(const OpDef& op, AnyAttrs attrs, Values inputs, TensorTypes types, Device& device);
  // The size that symbol i of the table is comes from the call that gives this value.
  void set_birth(size_t symbol, Value value) { births_.emplace(symbol, value); }
  // A call or a constant of another graph with the same table, of these values.
  Node& add_copy(const Node& node, Values inputs);
  void set_outputs(std::vector<Value> outputs) { outputs_ = std::move(outputs); }
  // The same inputs in another order.
  void set_inputs(std::vector<Node*> inputs) { inputs_ = std::move(inputs); }
  // Fails if another value has that name.
  void rename(Value value, std::string name);

 private:
  Node& add(Node node, std::string name = "");
  void add_birth(Node& node, size_t symbol) const;
  std::string fresh_name();

  std::shared_ptr<SizeTable> sizes_;
  std::list<Node> nodes_;
  std::vector<Node*> inputs_;
  std::vector<Value> outputs_;
  std::unordered_multimap<size_t, Value> births_;  // By symbols.
  std::unordered_set<std::string> names_;
  size_t next_name_ = 0;
  uint32_t n_slots_ = 0;
};

// Every size among attributes.
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

// The first output of each.
std::vector<Value> outputs_of(std::span<Node* const> nodes);

// A type of the graph when symbol i of its table is sizes[i].
TensorType evaluated(const Graph& graph, TensorType type, std::span<const Size> sizes);

}  // namespace tenon
