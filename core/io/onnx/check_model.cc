// Validates a model: each value is computed once and before it is read, functions do not recurse,
// and values match their declarations as far as the file determines both.

#include <algorithm>
#include <set>
#include <unordered_set>

#include "core/base/error.h"
#include "core/io/onnx/model.h"

namespace tenon::onnx {
namespace {

// Returns a description of the node at index `place`, for error messages.
std::string node_label(const Node& node, size_t place) {
  const std::string name =
      node.name.empty() ? "node " + std::to_string(place) : "node \"" + node.name + "\"";
  return name + " (" + node.op + ")";
}

// The names of values that are defined so far in a graph and its enclosing graphs.
class DefinedNames {
 public:
  explicit DefinedNames(const DefinedNames* around = nullptr) : around_(around) {}

  void add(std::string_view name) {
    if (name.empty()) return;
    require_code(names_.insert(name).second, Code::kDataLoss, "the value \"{}\" is defined twice",
                 name);
  }
  bool has(std::string_view name) const {
    return names_.contains(name) || (around_ && around_->has(name));
  }

 private:
  const DefinedNames* around_;
  std::unordered_set<std::string_view> names_;
};

// Throws unless the value `name`, which `reader` reads, is already defined.
void require_defined(const DefinedNames& names, const Graph& graph, std::string_view name,
                     const std::string& reader) {
  if (name.empty() || names.has(name)) return;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& output : graph.nodes[i].outputs) {
      if (output != name) continue;
      fail(Code::kDataLoss,
           "the value \"{}\" is read by {}, but no earlier node defines it: {} does, so the nodes "
           "are unordered or form a cycle",
           {name, reader, node_label(graph.nodes[i], i)});
    }
  }
  fail(Code::kDataLoss, "the value \"{}\" is read by {}, but no earlier node defines it",
       {name, reader});
}

// Checks that each value is defined once, before it is read. `around`: the names of the enclosing
// graphs.
void check_graph(const Graph& graph, const DefinedNames* around) {
  DefinedNames names(around);
  for (const ValueInfo& input : graph.inputs) {
    require_code(!input.name.empty(), Code::kDataLoss, "an input of the graph \"{}\" has no name",
                 graph.name);
    names.add(input.name);
  }
  for (const TensorData& data : graph.initializers) names.add(data.name);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    for (const std::string& input : node.inputs) {
      require_defined(names, graph, input, node_label(node, i));
    }
    std::set<std::string_view> attributes;
    for (const Attribute& attribute : node.attributes) {
      require_code(attributes.insert(attribute.name).second, Code::kDataLoss,
                   "{} has the attribute {} twice", node_label(node, i), attribute.name);
    }
    each_inner_graph(node, [&](const Graph& inner) { check_graph(inner, &names); });
    for (const std::string& output : node.outputs) names.add(output);
  }
  for (const ValueInfo& output : graph.outputs) {
    require_defined(names, graph, output.name, "the graph \"" + graph.name + "\" as an output");
  }
}

// Calls `visit` for each node of the graph and of its inner graphs.
template <class Visit>
void each_call(const Graph& graph, const Visit& visit) {
  for (const Node& node : graph.nodes) {
    visit(node);
    each_inner_graph(node, [&](const Graph& inner) { each_call(inner, visit); });
  }
}

// Limits the depth and the total size of function calls, and rejects recursion.
//
// A traced node needs several kilobytes of memory. If each function calls the next one twice, the
// number of nodes doubles at each level, so a small file could exhaust memory. Therefore the number
// of nodes after inlining all calls is limited before anything runs: to kMaxNodes, and in
// proportion to the number of nodes in the file.
class Calls {
 public:
  explicit Calls(const Model& model)
      : model_(model), states_(model.functions.size()), inlined_sizes_(model.functions.size()) {
    size_t n_nodes = 0;
    const auto count = [&](const Graph& graph) {
      each_call(graph, [&](const Node&) { ++n_nodes; });
    };
    count(model.graph);
    for (const ModelFunction& function : model.functions) count(function.graph);
    max_nodes_ = std::min(kMaxNodes, kMaxFree + kMaxForEach * n_nodes);
  }

  void check() {
    for (size_t i = 0; i < model_.functions.size(); ++i) inlined_size(i, 0);
    inlined_size(model_.graph, 0);
  }

 private:
  static constexpr size_t kMaxDepth = 64;
  // Maximum numbers of nodes after inlining. A model may have kMaxFree nodes plus kMaxForEach for
  // each node of its file, but at most kMaxNodes.
  static constexpr size_t kMaxNodes = size_t{1} << 21, kMaxFree = size_t{1} << 15, kMaxForEach = 64;
  enum class State : uint8_t { kNew, kUnderWay, kDone };
  // Number of nodes of a graph, and maximum nesting depth of calls, after inlining all calls.
  struct InlinedSize {
    size_t nodes = 0, calls = 0;
  };

  InlinedSize inlined_size(size_t i, size_t depth) {
    const ModelFunction& function = model_.functions[i];
    require_code(states_[i] != State::kUnderWay, Code::kDataLoss, "the function {} calls itself",
                 function.name);
    if (states_[i] == State::kDone) return inlined_sizes_[i];
    states_[i] = State::kUnderWay;
    inlined_sizes_[i] = inlined_size(function.graph, depth);
    states_[i] = State::kDone;
    return inlined_sizes_[i];
  }

  InlinedSize inlined_size(const Graph& graph, size_t depth) {
    InlinedSize all;
    each_call(graph, [&](const Node& node) {
      const ModelFunction* called = model_.find_function(node);
      const auto i = called ? static_cast<size_t>(called - model_.functions.data()) : 0;
      InlinedSize one = {1, 0};
      if (called) {
        require_shallow(depth + 1);
        one = inlined_size(i, depth + 1);
        ++one.calls;
        require_shallow(one.calls);
      }
      all.nodes += one.nodes;
      all.calls = std::max(all.calls, one.calls);
      require_code(all.nodes <= max_nodes_, Code::kDataLoss,
                   "the model has more than {} nodes after its functions are inlined", max_nodes_);
    });
    return all;
  }

  static void require_shallow(size_t calls) {
    require_code(calls <= kMaxDepth, Code::kDataLoss, "function calls are nested more than {} deep",
                 kMaxDepth);
  }

  const Model& model_;
  std::vector<State> states_;
  std::vector<InlinedSize> inlined_sizes_;
  size_t max_nodes_;
};

// Checks that initialisers match their declared types.
void check_declared(const Graph& graph) {
  std::unordered_map<std::string_view, const TensorData*> data;
  for (const TensorData& each : graph.initializers) data.emplace(each.name, &each);
  for (const ValueInfo& value : graph.values) {
    const auto at = data.find(value.name);
    if (at != data.end()) require_declared(value, at->second->type);
  }
  for (const Node& node : graph.nodes) {
    each_inner_graph(node, [](const Graph& inner) { check_declared(inner); });
  }
}

}  // namespace

// Whether a type matches the declaration of a value, as far as both are known.
bool matches_declaration(const ValueInfo& value, const TensorType& type) {
  if (!value.is_tensor) return true;
  const DType dtype = dtype_of_element(value.element);
  bool holds = dtype == DType::kNone || dtype == type.dtype;
  if (value.shape) {
    holds = holds && value.shape->size() == type.rank();
    for (size_t i = 0; holds && i < type.rank(); ++i) {
      const int64_t size = (*value.shape)[i].size;
      holds = size < 0 || !type.shape[i].known() || size == type.shape[i].word();
    }
  }
  return holds;
}

// Throws unless the type matches the declaration of the value.
void require_declared(const ValueInfo& value, const TensorType& type) {
  require_code(matches_declaration(value, type), Code::kDataLoss,
               "the value \"{}\" is declared to be {}, but is {}", value.name, to_string(value),
               type);
}

void check_model(const Model& model) {
  check_graph(model.graph, nullptr);
  check_declared(model.graph);
  for (const ModelFunction& function : model.functions) {
    check_graph(function.graph, nullptr);
    std::set<std::string_view> attributes(function.attributes.begin(), function.attributes.end());
    for (const Attribute& attribute : function.defaults) {
      require_code(attributes.insert(attribute.name).second, Code::kDataLoss,
                   "the function {} has the attribute {} twice", function.name, attribute.name);
    }
  }
  Calls(model).check();
}

}  // namespace tenon::onnx
