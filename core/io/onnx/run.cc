#include "core/io/onnx/run.h"

#include <map>
#include <set>
#include <unordered_map>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/adapters.h"
#include "core/io/onnx/node_call.h"
#include "core/ops/registry.h"

namespace tenon::onnx {
namespace {

std::string full_name(const Node& node) {
  return node.domain.empty() ? node.op : node.domain + "." + node.op;
}

// By its name, or by its place where it has none.
std::string call_it(const Node& node, size_t place) {
  return node.name.empty() ? "node " + std::to_string(place) : "node \"" + node.name + "\"";
}

// The ops that are the same in ONNX, by their name there.
const OpDef* find_same(const Node& node) {
  static const auto table = [] {
    std::unordered_map<std::string_view, const OpDef*> ops;
    for (const OpDef& op : all_ops()) {
      if (*op.onnx) ops.emplace(op.onnx, &op);
    }
    return ops;
  }();
  const auto at = table.find(node.op);
  return node.domain.empty() && at != table.end() ? at->second : nullptr;
}

AttrValue value_of(const Attribute& attribute) {
  switch (attribute.kind) {
    case AttributeKind::kInt:
      return attribute.int_value;
    case AttributeKind::kFloat:
      return static_cast<double>(attribute.float_value);
    case AttributeKind::kText:
      return attribute.text;
    case AttributeKind::kInts:
      return Ints(std::span<const int64_t>(attribute.ints));
    default:
      fail(Code::kUnimplemented, "attribute {} is of a kind that no op has", {attribute.name});
  }
}

Tensors call_same(const OpDef& op, const NodeCall& call) {
  NamedAttrs attrs(op);
  for (const Attribute& attribute : call.node().attributes) {
    require_code(attrs.has(attribute.name), Code::kUnimplemented, "attribute {} is unknown here",
                 attribute.name);
    attrs.set(attribute.name, value_of(attribute));
  }
  return call_op(static_cast<OpId>(op.id), attrs.view(), call.inputs());
}

// Visits the nodes of a graph and of those inside of it.
template <class Visit>
void each_node(const Graph& graph, const Visit& visit) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    visit(graph.nodes[i], i);
    for (const Attribute& attribute : graph.nodes[i].attributes) {
      if (attribute.graph) each_node(*attribute.graph, visit);
    }
  }
}

// Each value that a node reads, once for each time, also from the graphs inside of it.
template <class Visit>
void each_use(const Node& node, const Visit& visit) {
  for (const std::string& name : node.inputs) visit(name);
  for (const Attribute& attribute : node.attributes) {
    if (!attribute.graph) continue;
    for (const Node& inner : attribute.graph->nodes) each_use(inner, visit);
    for (const ValueInfo& output : attribute.graph->outputs) visit(output.name);
  }
}

// The values of one graph, each as long as somebody will read it.
class Run {
 public:
  // A graph inside of a node sees the values of the one around it, too.
  Run(const Model& model, const Graph& graph, const Run* around = nullptr)
      : model_(model), graph_(graph), around_(around) {
    for (const Node& node : graph.nodes) {
      each_use(node, [&](const std::string& name) { ++uses_[name]; });
    }
    for (const ValueInfo& output : graph.outputs) ++uses_[output.name];
  }

  Tensors operator()(TensorSpan inputs) {
    Scope& scope = current_scope();
    require(inputs.size() == graph_.inputs.size(), "the graph \"{}\" takes {} inputs, but got {}",
            graph_.name, graph_.inputs.size(), inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) define(graph_.inputs[i].name, inputs[i]);
    for (const TensorData& data : graph_.initializers) {
      if (uses_.contains(data.name)) define(data.name, upload(scope, scope.device(), data));
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) run_node(graph_.nodes[i], i);
    Tensors outputs;
    for (const ValueInfo& output : graph_.outputs) {
      outputs.push_back(find(output.name));
      require(bool(outputs.back()), "the output \"{}\" is a value that is absent", output.name);
    }
    return outputs;
  }

 private:
  void define(const std::string& name, Tensor value) {
    const bool is_new = values_.emplace(name, std::move(value)).second;
    require_code(is_new, Code::kDataLoss, "the value \"{}\" is made twice", name);
  }

  const Tensor& find(const std::string& name) const {
    const auto at = values_.find(name);
    if (at != values_.end()) return at->second;
    require_code(around_ != nullptr, Code::kDataLoss,
                 "the value \"{}\" is read, but nothing before makes it", name);
    return around_->find(name);
  }

  void run_node(const Node& node, size_t place) {
    try {
      const Tensors outputs = call(node);
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (uses_.contains(node.outputs[i])) define(node.outputs[i], outputs[i]);
      }
    } catch (const Error& error) {
      fail_because(error, error.code(), "{} ({}): {}",
                   {call_it(node, place), full_name(node), error.what()});
    }
    each_use(node, [&](const std::string& name) {
      if (--uses_[name] == 0) values_.erase(name);
    });
  }

  Tensors call(const Node& node) {
    Tensors inputs;
    for (const std::string& name : node.inputs) {
      inputs.push_back(name.empty() ? Tensor() : find(name));
    }
    const RunGraph run_graph = [this](const Graph& graph, TensorSpan given) {
      return Run(model_, graph, this)(given);
    };
    const int64_t version = std::max<int64_t>(model_.version_of(node.domain), 1);
    const NodeCall call(node, version, inputs, run_graph);
    Tensors outputs;
    if (const Adapter adapter = find_adapter(node.domain, node.op)) {
      outputs = adapter(call);
      call.require_all_known();
    } else {
      outputs = call_same(*find_same(node), call);
    }
    for (size_t i = outputs.size(); i < node.outputs.size(); ++i) {
      require_code(!call.wants(i), Code::kUnimplemented, "output {} is asked for, and {} are known",
                   i, outputs.size());
    }
    outputs.resize(std::max(outputs.size(), node.outputs.size()));
    return outputs;
  }

  const Model& model_;
  const Graph& graph_;
  const Run* around_;
  std::unordered_map<std::string_view, int64_t> uses_;  // That are still to come.
  std::unordered_map<std::string_view, Tensor> values_;
};

// The inputs as tensors of the dtypes that the model declares. Declared sizes are but a remark,
// which is not always true: what a node needs of them, its op checks.
Tensors checked_inputs(const Graph& graph, TensorSpan given) {
  require(given.size() == graph.inputs.size(), "the model takes {} inputs, but got {}",
          graph.inputs.size(), given.size());
  Tensors inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    const ValueInfo& declared = graph.inputs[i];
    Tensor x = given[i];
    const DType dtype = dtype_of_element(declared.element);
    if (x->is_scalar_value()) x = with_dtype(current_scope(), *x, dtype);
    require(x->type.dtype == dtype, "input \"{}\" is {}, but the model takes {}", declared.name,
            x->type, to_string(declared));
    inputs.push_back(std::move(x));
  }
  return inputs;
}

void require_known(const Model& model) {
  const int64_t version = model.version_of("");
  require_code(version <= kNewestVersion, Code::kUnimplemented,
               "the model imports version {} of ONNX's ops, and {} is the newest known here",
               version, kNewestVersion);
  std::string list;
  for (const UnknownOp& unknown : unknown_ops(model)) {
    list += (list.empty() ? "" : ", ") + unknown.op + " (";
    for (size_t i = 0; i < unknown.nodes.size(); ++i) list += (i ? ", " : "") + unknown.nodes[i];
    list += ")";
  }
  require_code(list.empty(), Code::kUnimplemented, "the model has ops that are unknown here: {}",
               list);
}

}  // namespace

std::vector<std::string> ops_of(const Model& model) {
  std::set<std::string> ops;
  each_node(model.graph, [&](const Node& node, size_t) { ops.insert(full_name(node)); });
  return {ops.begin(), ops.end()};
}

std::vector<UnknownOp> unknown_ops(const Model& model) {
  std::map<std::string, std::vector<std::string>> found;
  each_node(model.graph, [&](const Node& node, size_t place) {
    if (find_adapter(node.domain, node.op) || find_same(node)) return;
    found[full_name(node)].push_back(call_it(node, place));
  });
  std::vector<UnknownOp> all;
  for (auto& [op, nodes] : found) all.push_back({op, std::move(nodes)});
  return all;
}

Tensors run_onnx(const Model& model, TensorSpan inputs) {
  require_known(model);
  Scope& scope = current_scope();
  SmallVector<TensorImpl*, 6> borrowed;
  for (const Tensor& x : inputs) borrowed.push_back(x.get());
  const Scope::OnDevice on_device(scope, common_device(scope, borrowed));
  return Run(model, model.graph)(checked_inputs(model.graph, inputs));
}

}  // namespace tenon::onnx
