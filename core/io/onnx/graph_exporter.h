// Writes the nodes of graphs: calls, loops, branches, lists. export_graph.h makes models of them.

#pragma once

#include <functional>
#include <map>
#include <set>

#include "core/io/onnx/export_ops.h"
#include "core/trace/graph/region.h"

namespace tenon::onnx {

// A placeholder for the name of an order token (core/trace/graph/order.h). Files have no tokens;
// the order of effects is the order of the nodes.
inline constexpr const char* kTokenName = "(token)";

// The functions of a model, without duplicates.
struct Functions {
  std::vector<WireWriter> all;
  std::map<std::string, std::string> by_text;  // From a function's definition to its name.
  std::map<std::string, size_t> count;         // Number of functions for each op.
};

// Writes the calls of a graph and of its inner graphs.
class GraphExporter {
 public:
  // `where` names the graph in error messages.
  GraphExporter(Scope& scope, Functions& functions, Inexpressible& inexpressible, std::string where)
      : scope_(scope),
        functions_(functions),
        inexpressible_(inexpressible),
        where_(std::move(where)) {}

  // Names of a graph's values, by slot.
  using Values = std::vector<std::string>;
  // Writes the nodes that the outputs need. The inputs already have names. Returns the output
  // names.
  Texts write(NodeWriter& w, const tenon::Graph& graph, Values values,
              std::span<const Value> outputs);

 private:
  struct GraphState {
    NodeWriter& w;
    const tenon::Graph& graph;
    Values& values;
    std::vector<uint32_t> reads;  // Number of reads of each slot.
  };
  static std::string name_of(GraphState& at, const Value& x, DType dtype);
  static void give(GraphState& at, const tenon::Node& node, const Texts& names);
  void write_call(GraphState& at, const tenon::Node& node);
  void cannot(GraphState& at, const tenon::Node& node, std::string_view why);

  // These return false if they cannot express the call.
  bool export_op(OpCall& call);
  bool decompose(OpCall& call);
  using WriteBody = std::function<Texts(NodeWriter& w, const Texts& inputs)>;
  void call_function(OpCall& call, const WriteBody& write_body);

  // export_control.cc
  void write_control(GraphState& at, const tenon::Node& node);
  void write_loop(GraphState& at, const tenon::Node& node);
  void write_list(GraphState& at, const tenon::Node& node);
  void write_effect(GraphState& at, const tenon::Node& node);
  Texts write_inside(NodeWriter& w, const Region& region, const Texts& operands);
  Texts write_choice(NodeWriter& w, const tenon::Node& node, const std::string& which,
                     const Texts& operands, size_t i);

  Scope& scope_;
  Functions& functions_;
  Inexpressible& inexpressible_;
  std::string where_;
  std::set<std::string> full_lists_;         // Lists whose entries are all set.
  std::map<std::string, Size> lengths_;      // Lists of known length.
  std::map<std::string, Size> size_values_;  // Values that hold a size.
};

// The dtype of each input of a call, where scalars adopt the dtype of other operands.
TensorTypes types_of_inputs(const tenon::Node& node);

}  // namespace tenon::onnx
