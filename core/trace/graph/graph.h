// The graph of a trace: a list of nodes in execution order. Most nodes are calls of an op on
// values. Values are immutable. State is threaded: the value of a variable or a generator is an
// input of the graph, and its new value is an output.
//
// Sizes may be formulas over symbols of the graph's size table.

#pragma once

#include <list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/size_table.h"
#include "core/ops/definition/op.h"

namespace tenon {

class Device;
struct Node;

// One output of a node. A NULL node represents an optional input that is absent.
struct Value {
  Node* node = nullptr;
  uint32_t index = 0;

  inline const TensorType& type() const;
  inline const std::string& name() const;
  inline uint32_t slot() const;  // Index of the value in its graph.
  explicit operator bool() const { return node != nullptr; }
  friend bool operator==(const Value&, const Value&) = default;
};

using Values = SmallVector<Value, 3>;

enum class NodeKind : uint8_t { kInput, kConstant, kCall };

// The role of an input.
enum class InputRole : uint8_t {
  kArgument,
  kCapture,  // A tensor from outside the trace.
  kState     // A variable or generator; output i is the new value of state i.
};

struct Node {
  NodeKind kind = NodeKind::kCall;
  InputRole role = InputRole::kArgument;  // Only for inputs.
  const OpDef* op = nullptr;              // The op that is called; NULL unless the node is a call.
  OwnedAttrs attrs;
  // The last n_sizes inputs are not operands of the op. They define data-dependent sizes in the
  // attributes.
  Values inputs;
  uint32_t n_sizes = 0;
  Tensor constant;                 // For constants: an inline scalar.
  TensorTypes types;               // Types of the outputs.
  std::vector<std::string> names;  // Names of the outputs; unique in the graph.
  std::string location;            // The user's source line, if a binding provided it.
  Device* device = nullptr;        // Where a call runs, or where an input is stored.
  uint32_t first_slot = 0;         // Index of the first output among all values of the graph.

  Value output(uint32_t i = 0) { return {this, i}; }
  std::span<const Value> operands() const { return inputs.span().first(inputs.size() - n_sizes); }
};

const TensorType& Value::type() const { return node->types[index]; }
const std::string& Value::name() const { return node->names[index]; }
uint32_t Value::slot() const { return node->first_slot + index; }

class Graph {
 public:
  Graph() : Graph(std::make_shared<SizeTable>()) {}
  // A nested graph, which shares the size table of the enclosing one.
  explicit Graph(std::shared_ptr<SizeTable> sizes) : sizes_(std::move(sizes)) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // The table is not const, because comparing sizes may add guards to it.
  SizeTable& sizes() const { return *sizes_; }
  const std::shared_ptr<SizeTable>& shared_sizes() const { return sizes_; }

  // ---- reading
  std::list<Node>& nodes() { return nodes_; }
  const std::list<Node>& nodes() const { return nodes_; }
  std::span<Node* const> inputs() const { return inputs_; }
  std::span<const Value> outputs() const { return outputs_; }
  uint32_t n_slots() const { return n_slots_; }

  // ---- building; nodes are appended, and unnamed values get an unused name
  Value add_input(const TensorType& type, InputRole role, std::string name, Device& device);
  Value add_constant(const TensorImpl& scalar);
  Node& add_call(const OpDef& op, AnyAttrs attrs, Values inputs, TensorTypes types, Device& device);
  // Records that `value` determines the data-dependent symbol `symbol`.
  void set_size_origin(size_t symbol, Value value) { size_origins_.emplace(symbol, value); }
  // Copies a call or a constant of another graph with the same size table. The copy has the inputs
  // `inputs`.
  Node& add_copy(const Node& node, Values inputs);
  void set_outputs(std::vector<Value> outputs) { outputs_ = std::move(outputs); }
  // Reorders the inputs.
  void set_inputs(std::vector<Node*> inputs) { inputs_ = std::move(inputs); }
  // Fails if another value has that name.
  void rename(Value value, std::string name);

 private:
  Node& add(Node node, std::string name = "");
  // Appends the values that determine a data-dependent symbol to the inputs of `node`.
  void add_size_inputs(Node& node, size_t symbol) const;
  // Returns a name that no value of the graph has.
  std::string fresh_name();

  std::shared_ptr<SizeTable> sizes_;
  std::list<Node> nodes_;
  std::vector<Node*> inputs_;
  std::vector<Value> outputs_;
  std::unordered_multimap<size_t, Value> size_origins_;  // Keyed by symbol.
  std::unordered_set<std::string> names_;
  size_t next_name_ = 0;
  uint32_t n_slots_ = 0;
};

// Visits every size in the attributes.
template <class Visit>
void visit_sizes(AnyAttrs attrs, const Visit& visit) {
  if (attrs.empty()) return;
  for (const AttrField& field : attrs.type->all()) {
    if (field.kind == AttrKind::kSize) {
      visit(const_cast<Size&>(field.get<Size>(attrs.data)));
    } else if (field.kind == AttrKind::kSizes) {
      for (const Size& size : field.get<Sizes>(attrs.data)) visit(const_cast<Size&>(size));
    }
  }
}

// Returns the first output of each node.
std::vector<Value> first_outputs_of(std::span<Node* const> nodes);

// Returns `type` with sizes[i] substituted for symbol i of the graph's size table.
TensorType substitute_sizes(const Graph& graph, TensorType type, std::span<const Size> sizes);

}  // namespace tenon
