// Writes graphs of a trace as ONNX nodes: calls, loops, branches and lists. export_graph.h
// assembles a model from them.

#pragma once

#include <functional>
#include <map>
#include <set>

#include "core/io/onnx/export_ops.h"
#include "core/trace/graph/region.h"

namespace tenon::onnx {

// Stands for the name of an order token (core/trace/graph/order.h). ONNX has no tokens: effects run
// in the order of the nodes.
inline constexpr const char* kTokenName = "(token)";

// The functions of a model. Equal functions are stored once.
struct Functions {
  std::vector<WireWriter> all;
  std::map<std::string, std::string> by_text;  // Names of functions, keyed by definition.
  std::map<std::string, size_t> count;         // Number of functions for each op.
};

// Writes the calls of a graph and of its inner graphs as ONNX nodes.
class GraphExporter {
 public:
  // `where` is the graph's name for error messages.
  GraphExporter(Scope& scope, Functions& functions, Inexpressible& inexpressible, std::string where)
      : scope_(scope),
        functions_(functions),
        inexpressible_(inexpressible),
        where_(std::move(where)) {}

  // Names of the values of a graph, indexed by slot.
  using Values = std::vector<std::string>;
  // Writes the nodes that are needed to compute `outputs`, and returns their names. `values` holds
  // the names of the graph's inputs.
  Texts write(NodeWriter& w, const tenon::Graph& graph, Values values,
              std::span<const Value> outputs);
  // Returns the operator set that the written nodes need.
  int64_t needed_operator_set() const { return operator_set_; }

 private:
  struct GraphState {
    NodeWriter& w;
    const tenon::Graph& graph;
    Values& values;
    std::vector<uint32_t> reads;  // Number of uses of each slot.
  };
  // Returns the name of a value, cast to `dtype` if its dtype differs.
  static std::string name_of(GraphState& at, const Value& x, DType dtype);
  // Sets the names of the outputs of a node.
  static void set_output_names(GraphState& at, const tenon::Node& node, const Texts& names);
  // Writes the nodes of a call.
  void write_call(GraphState& at, const tenon::Node& node);
  // Records why ONNX cannot express a node, and continues with the following nodes.
  void report_inexpressible(GraphState& at, const tenon::Node& node, std::string_view why);

  // Exports a call by its exporters or its decomposition. Returns false if neither is possible.
  bool export_op(OpCall& call);
  // Exports a call by the decomposition of its op.
  bool decompose(OpCall& call);
  using WriteBody = std::function<Texts(NodeWriter& w, const Texts& inputs)>;
  // Writes a function of the model and a node that calls it.
  void call_function(OpCall& call, const WriteBody& write_body);

  // Exports a call with regions, lists, effects or sizes. Defined in export_control.cc, like the
  // functions below.
  void write_control(GraphState& at, const tenon::Node& node);
  void write_loop(GraphState& at, const tenon::Node& node);
  void write_list(GraphState& at, const tenon::Node& node);
  void write_effect(GraphState& at, const tenon::Node& node);
  // Writes the nodes of a region, with `operands` as its inputs. Returns the names of its outputs.
  Texts write_region(NodeWriter& w, const Region& region, const Texts& operands);
  // Writes regions i, i + 1, ... as nested If nodes. `which`: name of the condition or the index.
  Texts write_choice(NodeWriter& w, const tenon::Node& node, const std::string& which,
                     const Texts& operands, size_t i);

  Scope& scope_;
  Functions& functions_;
  Inexpressible& inexpressible_;
  std::string where_;
  int64_t operator_set_ = kOperatorSet;
  std::set<std::string> full_lists_;         // Lists in which every entry is set.
  std::map<std::string, Size> lengths_;      // Lengths of lists, if known.
  std::map<std::string, Size> size_values_;  // Values that are sizes.
};

// Returns the type of each input of a call. Weak scalars adopt the dtype of the other operands.
TensorTypes types_of_inputs(const tenon::Node& node);

}  // namespace tenon::onnx
