// Exports calls of ops as nodes, as functions of the model, or by their decomposition.

#include "core/io/onnx/graph_exporter.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/tracer.h"

namespace tenon::onnx {
namespace {

// Converts attributes to JSON, keyed by name. Infinities, NaN and formulas of sizes become strings.
class AttrsAsJson final : public AttrVisitor {
 public:
  void on_int(std::string_view name, int64_t value) override { all[std::string(name)] = value; }
  void on_float(std::string_view name, double value) override {
    all[std::string(name)] = std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
  }
  void on_bool(std::string_view name, bool value) override { all[std::string(name)] = value; }
  void on_dtype(std::string_view name, DType value) override {
    all[std::string(name)] = std::string(name_of(value));
  }
  void on_enum(std::string_view name, int32_t value, const EnumInfo& info) override {
    all[std::string(name)] = info.values[static_cast<size_t>(value)];
  }
  void on_ints(std::string_view name, std::span<const int64_t> value) override {
    all[std::string(name)] = std::vector<int64_t>(value.begin(), value.end());
  }
  void on_string(std::string_view name, std::string_view value) override {
    all[std::string(name)] = std::string(value);
  }
  void on_size(std::string_view name, Size value) override { all[std::string(name)] = json(value); }
  void on_sizes(std::string_view name, std::span<const Size> value) override {
    Json list = Json::array();
    for (const Size size : value) list.push_back(json(size));
    all[std::string(name)] = std::move(list);
  }

  Json all = Json::object();

 private:
  static Json json(Size size) { return size.known() ? Json(size.word()) : Json(to_string(size)); }
};

// Returns the doc string of an exported function. It names the op, from which Tenon restores the op
// when it reads the model.
std::string doc_string_of(const OpCall& call, const Texts& outputs) {
  const tenon::Node& node = call.node();
  const SizeTable::Use use(call.w.body().sizes);
  AttrsAsJson attrs;
  node.op->attrs->visit(node.attrs.view().data, attrs);
  Json json = {{"op", node.op->name}, {"attributes", std::move(attrs.all)}};
  const auto places = [](const Texts& names) {
    Json list = Json::array();
    for (size_t i = 0; i < names.size(); ++i) {
      if (!names[i].empty()) list.push_back(i);
    }
    return list;
  };
  json["inputs"] = places(call.in);
  // If the call is an effect, the function returns the first operand of the call. The op itself
  // returns only an order token, which is not listed.
  json["outputs"] = node.types[0].is_token() ? Json::array() : places(outputs);
  return json.dump();
}

}  // namespace

TensorTypes types_of_inputs(const tenon::Node& node) {
  const OpDef& op = *node.op;
  const size_t from = op.promotes == Promotes::kAllButFirst ? 1 : 0;
  const bool all = op.promotes == Promotes::kAll || op.promotes == Promotes::kAllButFirst;
  DType common = DType::kNone, scalars = DType::kNone, floating = DType::kNone;
  const std::span<const Value> operands = node.operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i]) continue;
    const TensorType& type = operands[i].type();
    if (!type.weak && is_floating(type.dtype) && floating == DType::kNone) floating = type.dtype;
    if (!all || i < from) continue;
    if (!type.weak) common = type.dtype;
    if (type.weak && (scalars == DType::kNone || is_floating(type.dtype))) scalars = type.dtype;
  }
  TensorTypes types;
  for (size_t i = 0; i < operands.size(); ++i) {
    TensorType type = operands[i] ? operands[i].type() : TensorType();
    if (type.weak) {
      type.weak = false;
      if (all && i >= from) {
        type.dtype = common != DType::kNone ? common : scalars;
      } else if (op.promotes == Promotes::kToOutput) {
        type.dtype = node.types[0].dtype;
      } else if (is_floating(type.dtype) && floating != DType::kNone) {
        type.dtype = floating;
      }
    }
    types.push_back(type);
  }
  return types;
}

// ---- graphs

// Writes the nodes that are needed to compute `outputs`, and returns their names.
Texts GraphExporter::write(NodeWriter& w, const tenon::Graph& graph, Values values,
                           std::span<const Value> outputs) {
  values.resize(graph.n_slots());
  GraphState at{w, graph, values, std::vector<uint32_t>(graph.n_slots(), 0)};
  for (const Value& y : outputs) ++at.reads[y.slot()];
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    bool needed = false;
    for (uint32_t i = 0; i < node->types.size(); ++i) {
      needed = needed || at.reads[node->first_slot + i] > 0;
    }
    for (const Value& x : node->inputs) {
      if (needed && x) ++at.reads[x.slot()];
    }
  }
  for (const tenon::Node& node : graph.nodes()) {
    bool needed = false;
    for (uint32_t i = 0; i < node.types.size(); ++i) {
      needed = needed || at.reads[node.first_slot + i] > 0;
    }
    if (needed && node.kind == NodeKind::kCall) write_call(at, node);
  }
  Texts names;
  for (const Value& y : outputs) names.push_back(name_of(at, y, y.type().dtype));
  return names;
}

// Returns the name of a value, cast to `dtype` if its dtype differs.
std::string GraphExporter::name_of(GraphState& at, const Value& x, DType dtype) {
  if (!x) return "";
  if (x.node->kind == NodeKind::kConstant) return at.w.scalar(*x.node->constant, dtype);
  const std::string& name = at.values[x.slot()];
  require_code(!name.empty(), Code::kInternal, "{} has no name", x.name());
  return x.type().dtype == dtype ? name : at.w.cast(name, dtype);
}

// Sets the names of the outputs of a node.
void GraphExporter::set_output_names(GraphState& at, const tenon::Node& node, const Texts& names) {
  for (size_t i = 0; i < names.size(); ++i) at.values[node.first_slot + i] = names[i];
}

// Records why ONNX cannot express a node.
void GraphExporter::report_inexpressible(GraphState& at, const tenon::Node& node,
                                         std::string_view why) {
  const std::string line = node.location.empty() ? "" : " (" + node.location + ")";
  inexpressible_.add(fmt::format("{}: {}{}: {}", where_, node.op->name, line, why));
  // Gives the outputs a placeholder name, so that errors in later calls are found, too.
  set_output_names(at, node, Texts(node.types.size(), "unsayable"));
}

// ---- calls

void GraphExporter::write_call(GraphState& at, const tenon::Node& node) {
  const TensorTypes types = types_of_inputs(node);
  for (const TensorTypes& some : {types, node.types}) {
    for (const TensorType& type : some) {
      operator_set_ = std::max(operator_set_, operator_set_of(type.dtype));
      if (type.dtype == DType::kNone || onnx_type_number(type.dtype) != 0) continue;
      return report_inexpressible(at, node,
                                  fmt::format("ONNX has no {}", tenon::name_of(type.dtype)));
    }
  }
  try {
    if (node.op->run || node.op->name == "assign" || node.op->name == "shape") {
      return write_control(at, node);
    }
    Texts in;
    std::vector<bool> wanted;
    for (size_t i = 0; i < types.size(); ++i) {
      in.push_back(name_of(at, node.inputs[i], types[i].dtype));
    }
    for (uint32_t i = 0; i < node.types.size(); ++i) {
      wanted.push_back(at.reads[node.first_slot + i] > 0);
    }
    OpCall call(node, at.w, std::move(in), types, std::move(wanted));
    if (!export_op(call)) {
      std::string operands;
      const SizeTable::Use use(at.w.body().sizes);
      for (const TensorType& type : types) {
        if (type.dtype != DType::kNone)
          operands += (operands.empty() ? "" : ", ") + to_string(type);
      }
      return report_inexpressible(at, node, fmt::format("ONNX has no equivalent for {}", operands));
    }
    set_output_names(at, node, call.out);
    const auto size = call.in.empty() ? size_values_.end() : size_values_.find(call.in[0]);
    const bool is_same = size != size_values_.end() && node.op->name == "reshape";
    if (is_same) size_values_.emplace(call.out[0], size->second);
  } catch (const UnavailableSize& size) {
    if (at.w.body().is_function) throw;  // The calling graph may compute the size.
    report_inexpressible(
        at, node,
        fmt::format("the sizes of the arguments do not determine the size {}", size.text));
  } catch (const Error& error) {
    if (error.is_transient()) throw;
    report_inexpressible(at, node, error.what());
  }
}

// Exports a call by its exporters or its decomposition. Returns false if neither is possible.
bool GraphExporter::export_op(OpCall& call) {
  const OpExport* exporters = find_export(*call.node().op);
  if (exporters && exporters->as_nodes && exporters->as_nodes(call)) return true;
  if (exporters && exporters->as_function) {
    bool is_exported = false;
    const WriteBody body = [&](NodeWriter& w, const Texts& inputs) {
      OpCall inside(call.node(), w, inputs, call.types, call.wanted());
      is_exported = exporters->as_function(inside);
      return inside.out;
    };
    try {
      call_function(call, body);
    } catch (const UnavailableSize&) {
      call.out = body(call.w, call.in);
    }
    if (is_exported) return true;
  }
  return call.node().op->decompose && decompose(call);
}

// Writes a function of the model and a node that calls it. Its parameters are the call's inputs.
// Does nothing if the function would be empty.
void GraphExporter::call_function(OpCall& call, const WriteBody& write_body) {
  Body body(call.w.body().table, true);
  Texts parameters, inputs, given;
  for (size_t i = 0; i < call.in.size(); ++i) {
    inputs.push_back(call.in[i].empty() ? "" : "x" + std::to_string(i));
    if (call.in[i].empty()) continue;
    parameters.push_back(inputs[i]);
    given.push_back(call.in[i]);
    body.names.take(inputs[i]);
    body.learn(inputs[i], call.types[i]);
  }
  std::vector<WireWriter> nodes;
  NodeWriter w(body, nodes);
  Texts outputs = write_body(w, inputs), results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty() || !call.wants(i)) {
      outputs[i].clear();
      continue;
    }
    const bool again = std::find(results.begin(), results.end(), outputs[i]) != results.end();
    if (again || !w.has_computed(outputs[i])) outputs[i] = w.node("Identity", {outputs[i]});
    results.push_back(outputs[i]);
  }
  if (results.empty()) return;

  WireWriter function;
  for (const std::string& name : parameters) function.text(4, name);
  for (const std::string& name : results) function.text(5, name);
  for (const WireWriter& node : body.first) function.message(7, node);
  for (const WireWriter& node : nodes) function.message(7, node);
  function.text(8, doc_string_of(call, outputs));
  function.message(9, operator_set("", operator_set_));
  function.message(9, operator_set(kTenonDomain, kTenonOperatorSet));
  function.text(10, kTenonDomain);

  const std::string& op = call.node().op->name;
  const auto [at, is_new] = functions_.by_text.try_emplace(function.bytes());
  if (is_new) {
    at->second = fmt::format("{}__{}", op, ++functions_.count[op]);
    function.text(1, at->second);
    functions_.all.push_back(std::move(function));
  }
  const Texts found = call.w.nodes_of(at->second, given, results.size(), {}, kTenonDomain);
  call.out.assign(outputs.size(), "");
  size_t next = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].empty()) call.out[i] = found[next++];
  }
}

// Exports a call by the decomposition of its op: traces it, and writes its graph as a function.
bool GraphExporter::decompose(OpCall& call) {
  const tenon::Node& node = call.node();
  SizeTable& sizes = call.w.body().sizes;
  const size_t n_guards = sizes.guards().size();
  tenon::Graph graph(call.w.body().table);
  std::vector<Tensor> captures;
  {
    const Scope::OnDevice on(scope_, *node.device);
    Tracer tracer(scope_, graph);
    tracer.disable_warnings();
    Tensors inputs;
    for (size_t i = 0; i < call.in.size(); ++i) {
      const bool is_there = !call.in[i].empty();
      inputs.push_back(is_there
                           ? tracer.input(call.types[i], InputRole::kArgument, "", *node.device)
                           : Tensor());
    }
    const Tensors all = node.op->decompose(*node.op, node.attrs.view().data, inputs);
    Tensors wanted;
    for (size_t i = 0; i < all.size(); ++i) {
      if (call.wants(i)) wanted.push_back(all[i]);
    }
    tracer.finish(wanted);
    captures = tracer.captures();
  }
  for (const SizeTest& guard : sizes.guards().subspan(n_guards)) {
    require_code(guard.kind != SizeTest::Kind::kEqual, Code::kUnimplemented,
                 "the decomposition of the op is valid for a single size only, {}",
                 sizes.text(guard));
  }
  const WriteBody body = [&](NodeWriter& w, const Texts& inputs) {
    Values values(graph.n_slots());
    size_t argument = 0, capture = 0;
    for (const tenon::Node* input : graph.inputs()) {
      std::string& name = values[input->first_slot];
      if (input->role == InputRole::kCapture) {
        const Tensor& x = captures[capture++];
        std::string bytes(static_cast<size_t>(count(x->shape())) * size_of(x->type.dtype), '\0');
        to_host(scope_, x, bytes.data(), bytes.size());
        name = w.constant(x->type.dtype, {x->shape().data(), x->rank()}, bytes);
        continue;
      }
      while (inputs[argument].empty()) ++argument;
      name = inputs[argument++];
    }
    const Texts found = write(w, graph, std::move(values), graph.outputs());
    Texts outputs(node.types.size());
    size_t next = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (call.wants(i)) outputs[i] = found[next++];
    }
    return outputs;
  };
  try {
    call_function(call, body);
  } catch (const UnavailableSize&) {
    // A size that the body needs cannot be computed from the function's inputs. Writes the nodes
    // into the calling graph instead, which may know the size.
    call.out = body(call.w, call.in);
  }
  return true;
}

}  // namespace tenon::onnx
