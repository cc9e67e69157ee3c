// The nodes of graphs: calls, loops, branches, lists. export_graph.h makes models of them.

#pragma once

#include <functional>
#include <map>
#include <set>

#include "core/io/onnx/export_ops.h"
#include "core/trace/region.h"

namespace tenon::onnx {

// What stands for the name of a token (core/trace/order.h), which no file says: the order of
// effects is that of the nodes.
inline constexpr const char* kTokenName = "(token)";

// The functions of a model, each once.
struct Functions {
  std::vector<WireWriter> all;
  std::map<std::string, std::string> by_text;  // What a function is, to its name.
  std::map<std::string, size_t> count;         // Of each op.
};

// Writes the calls of a graph and of those inside of it.
class CodeWriter {
 public:
  // `where` is for messages.
  CodeWriter(Scope& scope, Functions& functions, Unsayable& unsayable, std::string where)
      : scope_(scope), functions_(functions), unsayable_(unsayable), where_(std::move(where)) {}

  // The names of a graph's values, by slot.
  using Values = std::vector<std::string>;
  // Writes what the outputs need; the inputs have names already. Gives the names of the outputs.
  Texts write(NodeWriter& w, const tenon::Graph& graph, Values values,
              std::span<const Value> outputs);

 private:
  struct Place {
    NodeWriter& w;
    const tenon::Graph& graph;
    Values& values;
    std::vector<uint32_t> reads;  // How often each slot is read.
  };
  static std::string name_of(Place& at, const Value& x, DType dtype);
  static void give(Place& at, const tenon::Node& node, const Texts& names);
  void write_call(Place& at, const tenon::Node& node);
  void cannot(Place& at, const tenon::Node& node, std::string_view why);

  // Each false where it does not say the call.
  bool say(OpCall& call);
  bool decompose(OpCall& call);
  using WriteBody = std::function<Texts(NodeWriter& w, const Texts& inputs)>;
  void call_function(OpCall& call, const WriteBody& write_body);

  // export_control.cc
  void write_control(Place& at, const tenon::Node& node);
  void write_loop(Place& at, const tenon::Node& node);
  void write_list(Place& at, const tenon::Node& node);
  void write_effect(Place& at, const tenon::Node& node);
  Texts write_inside(NodeWriter& w, const Region& region, const Texts& operands);
  Texts write_choice(NodeWriter& w, const tenon::Node& node, const std::string& which,
                     const Texts& operands, size_t i);

  Scope& scope_;
  Functions& functions_;
  Unsayable& unsayable_;
  std::string where_;
  std::set<std::string> full_lists_;         // Values whose entries were all set.
  std::map<std::string, Size> lengths_;      // Those of which it is known how long they are.
  std::map<std::string, Size> size_values_;  // Values that are sizes.
};

// The dtype that each input of a call has, where scalars take that of their partners.
TensorTypes types_of_inputs(const tenon::Node& node);

}  // namespace tenon::onnx
