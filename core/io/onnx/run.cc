#include "core/io/onnx/run.h"

#include <cstring>
#include <unordered_map>

#include "core/base/immortal.h"
#include "core/base/search.h"
#include "core/dispatch/dispatch.h"
#include "core/io/onnx/adapters.h"
#include "core/io/onnx/node_call.h"
#include "core/ops/definition/registry.h"
#include "core/trace/control/control.h"

namespace tenon::onnx {
namespace {

// Returns the name of the node's op. For an op outside the ONNX domain, prepends the domain and a
// dot.
std::string qualified_op_name(const Node& node) {
  return node.domain.empty() ? node.op : node.domain + "." + node.op;
}

// Returns the node's name for messages or, if it has none, its index.
std::string node_label(const Node& node, size_t index) {
  return node.name.empty() ? "node " + std::to_string(index) : "node \"" + node.name + "\"";
}

// Finds the Tenon op that is equivalent to the node's ONNX op; NULL if there is none.
const OpDef* find_equivalent_op(const Node& node) {
  using Table = std::unordered_map<std::string_view, const OpDef*>;
  static const Immortal<Table> made = [] {
    Table ops;
    for (const OpDef& op : all_ops()) {
      if (*op.onnx) ops.emplace(op.onnx, &op);
    }
    return ops;
  }();
  const Table& table = made;
  const auto at = table.find(node.op);
  return node.domain.empty() && at != table.end() ? at->second : nullptr;
}

// Converts an attribute of an ONNX node to one of a Tenon op. Throws for kinds that no op accepts.
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
      fail(Code::kUnimplemented, "attribute {} has a type that no op accepts", {attribute.name});
  }
}

// Calls the op with the inputs of the node and its attributes, which it finds by name.
Tensors call_equivalent_op(const OpDef& op, const NodeCall& call) {
  NamedAttrs attrs(op);
  for (const Attribute& attribute : call.node().attributes) {
    require_code(attrs.has(attribute.name), Code::kUnimplemented, "attribute {} is not supported",
                 attribute.name);
    if (const Attribute* given = call.find(attribute.name)) {
      attrs.set(attribute.name, value_of(*given));
    }
  }
  return call_op(static_cast<OpId>(op.id), attrs.view(), call.inputs());
}

// Calls `visit` for each node of a graph and of its inner graphs.
template <class Visit>
void each_node(const Graph& graph, const Visit& visit) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    visit(graph.nodes[i], i);
    each_inner_graph(graph.nodes[i], [&](const Graph& inner) { each_node(inner, visit); });
  }
}

// Calls `visit` for each node of a model, including those of its functions.
template <class Visit>
void each_node(const Model& model, const Visit& visit) {
  each_node(model.graph, visit);
  for (const ModelFunction& function : model.functions) each_node(function.graph, visit);
}

// Calls `visit` with the name of each value that a node reads, once per use. Uses in the node's
// inner graphs are included.
template <class Visit>
void each_use(const Node& node, const Visit& visit) {
  for (const std::string& name : node.inputs) visit(name);
  each_inner_graph(node, [&](const Graph& graph) {
    for (const Node& inner : graph.nodes) each_use(inner, visit);
    for (const ValueInfo& output : graph.outputs) visit(output.name);
  });
}

// Data that all graphs of one model or function share during a run.
struct Common {
  const Model& model;
  const RunSettings& settings;
  std::span<const OperatorSet> operator_sets;
  const GivenAttributes* given =
      nullptr;      // Attributes of the calling function node; NULL for none.
  size_t* n_known;  // Number of known elements in all results so far.
};

// Runs one graph. Releases each value after its last use.
class Run {
 public:
  // `outer` is the run of the enclosing graph, whose values an inner graph may read; NULL for none.
  Run(const Common& all, const Graph& graph, const Run* outer = nullptr)
      : all_(all), graph_(graph), outer_(outer), is_traced_(current_scope().traced_cells()) {
    for (const Node& node : graph.nodes) {
      each_use(node, [&](const std::string& name) { ++uses_[name]; });
    }
    for (const ValueInfo& output : graph.outputs) ++uses_[output.name];
    if (all.settings.declared_shapes == DeclaredShapes::kIgnored) return;
    for (const ValueInfo& value : graph.values) declared_.emplace(value.name, &value);
    for (const ValueInfo& value : graph.outputs) declared_.emplace(value.name, &value);
  }

  ModelValues operator()(std::span<const ModelValue> inputs) {
    require(inputs.size() == graph_.inputs.size(), "the graph \"{}\" takes {} inputs, but got {}",
            graph_.name, graph_.inputs.size(), inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) define(graph_.inputs[i].name, inputs[i]);
    for (const TensorData& data : graph_.initializers) {
      if (uses_.contains(data.name)) define(data.name, all_.settings.initial(data));
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) run_node(graph_.nodes[i], i);
    ModelValues outputs;
    for (const ValueInfo& output : graph_.outputs) {
      outputs.push_back(find(output.name));
      require(bool(outputs.back()), "the output \"{}\" is missing", output.name);
    }
    return outputs;
  }

 private:
  void define(const std::string& name, ModelValue value) {
    if (const auto at = declared_.find(name); at != declared_.end() && value) {
      const TensorType type =
          value.known ? TensorType(value.known->dtype, value.known->shape) : value.tensor->type;
      check_declared(*at->second, type);
    }
    const bool is_new = values_.emplace(name, std::move(value)).second;
    require_code(is_new, Code::kDataLoss, "the value \"{}\" is defined twice", name);
  }

  void check_declared(const ValueInfo& value, const TensorType& type) const {
    if (matches_declaration(value, type)) return;
    const DType dtype = dtype_of_element(value.element);
    const bool is_shape = dtype == DType::kNone || dtype == type.dtype;
    if (!is_shape || all_.settings.declared_shapes == DeclaredShapes::kRequired) {
      require_declared(value, type);
    }
    Context& context = current_scope().context();
    if (!context.is_first_time(format("declared {} {}", {all_.model.graph.name, value.name})))
      return;
    context.log(
        TENON_LOG_WARNING,
        format("the value \"{}\" of the model is declared to be {}, but is {}; the declaration "
               "is ignored",
               {value.name, to_string(value), type}));
  }

  // Finds a value in this graph and its enclosing graphs; NULL if there is none of that name.
  const ModelValue* find_any(const std::string& name) const {
    const auto at = values_.find(name);
    if (at != values_.end()) return &at->second;
    return outer_ ? outer_->find_any(name) : nullptr;
  }

  const ModelValue& find(const std::string& name) const {
    const ModelValue* value = find_any(name);
    require_code(value != nullptr, Code::kDataLoss,
                 "the value \"{}\" is read, but no earlier node defines it", name);
    return *value;
  }

  void run_node(const Node& node, size_t place) {
    try {
      ModelValues outputs = call(node);
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (uses_.contains(node.outputs[i])) define(node.outputs[i], std::move(outputs[i]));
      }
    } catch (const Error& error) {
      fail_because(error, error.code(), "{} ({}): {}",
                   {node_label(node, place), qualified_op_name(node), error.what()});
    }
    each_use(node, [&](const std::string& name) {
      if (--uses_[name] == 0) values_.erase(name);
    });
  }

  ModelValues call(const Node& node) {
    ModelValues inputs;
    for (const std::string& name : node.inputs) {
      inputs.push_back(name.empty() ? ModelValue() : find(name));
    }
    const Environment around = {[this](const Graph& graph, std::span<const ModelValue> given) {
                                  Tensors outputs;
                                  for (const ModelValue& y : Run(all_, graph, this)(given)) {
                                    outputs.push_back(y.tensor ? y.tensor : tensor_of(*y.known));
                                  }
                                  return outputs;
                                },
                                [this](const std::string& name) { return find_any(name); },
                                all_.settings.initial, all_.settings.generator};
    const int64_t version = std::max<int64_t>(version_of(all_.operator_sets, node.domain), 1);
    const NodeCall call(node, version, inputs, all_.given, around);
    ModelValues outputs;
    if (const ModelFunction* function = all_.model.find_function(node)) {
      outputs = call_function(*function, call, inputs);
    } else if (const Graph* branch = is_traced_ ? known_branch(call) : nullptr) {
      outputs = Run(all_, *branch, this)({});
    } else {
      outputs = call_op(call);
    }
    for (size_t i = outputs.size(); i < node.outputs.size(); ++i) {
      require_code(!call.has_output(i), Code::kUnimplemented,
                   "the node uses output {}, but the op has only {} known outputs", i,
                   outputs.size());
    }
    outputs.resize(std::max(outputs.size(), node.outputs.size()));
    return outputs;
  }

  ModelValues call_op(const NodeCall& call) const {
    std::optional<Known> known = is_traced_ ? known_result(call) : std::nullopt;
    if (known && known->size() > kAlwaysKnown) {
      *all_.n_known += known->size();
      if (*all_.n_known > kMaxKnownOfRun) known.reset();
    }
    if (known && !is_floating(known->dtype)) return {ModelValue(Tensor(), std::move(*known))};
    Tensors tensors;
    const Node& node = call.node();
    if (const Adapter adapter = find_adapter(node.domain, node.op)) {
      tensors = adapter(call);
      call.require_all_attrs_read();
    } else {
      tensors = call_equivalent_op(*find_equivalent_op(node), call);
    }
    ModelValues outputs(tensors.begin(), tensors.end());
    // Keep the known elements in addition to the tensor. They are exact fractions, whereas the
    // tensor holds the op's rounded result.
    if (known) outputs[0].known = std::make_shared<const Known>(std::move(*known));
    return outputs;
  }

  // Returns the branch of an If node that will be taken, if the condition is known during tracing;
  // else NULL. The other branch is not traced.
  static const Graph* known_branch(const NodeCall& call) {
    const bool is_if = call.node().op == "If" && call.node().domain.empty();
    const Known* condition = is_if ? call.known(0) : nullptr;
    if (!condition || condition->size() != 1) return nullptr;
    return call.attr_graph(condition->values[0] != 0 ? "then_branch" : "else_branch");
  }

  // Calls a function of the model. The function's nodes read its inputs, but not other values of
  // the calling graph.
  ModelValues call_function(const ModelFunction& function, const NodeCall& call,
                            ModelValues inputs) const {
    if (const OwnOps* own = all_.settings.own_ops) {
      if (const auto at = own->find(&function); at != own->end()) {
        const Tensors outputs = at->second.call(call.inputs());
        return {outputs.begin(), outputs.end()};
      }
    }
    GivenAttributes given;
    for (const Attribute& attribute : function.defaults) given[attribute.name] = &attribute;
    for (const Attribute& attribute : call.node().attributes) {
      const bool is_its =
          contains(function.attributes, attribute.name) || given.contains(attribute.name);
      require_code(is_its, Code::kUnimplemented, "the function has no attribute {}",
                   attribute.name);
      if (const Attribute* value = call.find(attribute.name)) given[attribute.name] = value;
    }
    require_code(inputs.size() <= function.graph.inputs.size(), Code::kDataLoss,
                 "the function takes {} inputs, but got {}", function.graph.inputs.size(),
                 inputs.size());
    inputs.resize(function.graph.inputs.size());
    const Common inside = {all_.model, all_.settings, function.operator_sets, &given, all_.n_known};
    return Run(inside, function.graph)(inputs);
  }

  const Common& all_;
  const Graph& graph_;
  const Run* outer_;
  const bool is_traced_;
  std::unordered_map<std::string_view, int64_t> uses_;  // Remaining uses of each value.
  std::unordered_map<std::string_view, const ValueInfo*> declared_;
  std::unordered_map<std::string_view, ModelValue> values_;
};

}  // namespace

// Converts inline scalars to tensors of the declared dtypes and checks the dtypes of the other
// inputs.
Tensors convert_inputs(const Graph& graph, TensorSpan given) {
  require(given.size() == graph.inputs.size(), "the model takes {} inputs, but got {}",
          graph.inputs.size(), given.size());
  Tensors inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    const ValueInfo& declared = graph.inputs[i];
    Tensor x = given[i];
    const DType dtype = dtype_of_element(declared.element);
    if (x->is_scalar_value()) {
      x = with_dtype(current_scope(), *x, dtype);
    } else {
      x = as_tensor(x, dtype);
    }
    require(x->type.dtype == dtype, "input \"{}\" is {}, but the model takes {}", declared.name,
            x->type, to_string(declared));
    inputs.push_back(std::move(x));
  }
  return inputs;
}

void require_known_ops(const Model& model) {
  const auto require_version = [](std::span<const OperatorSet> sets) {
    const int64_t version = version_of(sets, "");
    require_code(
        version <= kNewestVersion, Code::kUnimplemented,
        "the model imports version {} of ONNX's ops, but the newest supported version is {}",
        version, kNewestVersion);
  };
  require_version(model.operator_sets);
  for (const ModelFunction& function : model.functions) require_version(function.operator_sets);
  const std::vector<UnknownOp> unknown = unknown_ops(model);
  require_code(unknown.empty(), Code::kUnimplemented, "{}",
               unknown_ops_text(unknown, has_foreign_adapters()));
}

std::string unknown_ops_text(std::span<const UnknownOp> unknown, bool has_foreign) {
  std::string list;
  bool is_left_out = false;
  for (const UnknownOp& each : unknown) {
    list += (list.empty() ? "" : ", ") + each.op + " (";
    for (size_t i = 0; i < each.nodes.size(); ++i) list += (i ? ", " : "") + each.nodes[i];
    list += ")";
    const std::string_view domain = std::string_view(each.op).substr(0, each.op.rfind('.'));
    is_left_out = is_left_out || (!has_foreign && is_foreign_domain(domain));
  }
  list.insert(0, "the model has ops that are not supported: ");
  if (is_left_out) {
    list +=
        "; this build of Tenon leaves out the ops of com.microsoft and ai.onnx.ml, which the build "
        "option TENON_ONNX_FOREIGN adds";
  }
  return list;
}

std::vector<std::string> op_names(const Model& model) {
  std::vector<std::string> ops;
  for (const auto& [op, n] : op_counts(model)) ops.push_back(op);
  return ops;
}

std::map<std::string, size_t> op_counts(const Model& model) {
  std::map<std::string, size_t> counts;
  each_node(model, [&](const Node& node, size_t) { ++counts[qualified_op_name(node)]; });
  return counts;
}

std::vector<UnknownOp> unknown_ops(const Model& model) {
  std::map<std::string, std::vector<std::string>> found;
  each_node(model, [&](const Node& node, size_t place) {
    if (find_adapter(node.domain, node.op) || find_equivalent_op(node) || model.find_function(node))
      return;
    found[qualified_op_name(node)].push_back(node_label(node, place));
  });
  std::vector<UnknownOp> all;
  for (auto& [op, nodes] : found) all.push_back({op, std::move(nodes)});
  return all;
}

std::optional<uint64_t> random_seed(const Model& model) {
  static constexpr std::string_view kOps[] = {
      "RandomUniform", "RandomUniformLike", "RandomNormal", "RandomNormalLike",
      "Bernoulli",     "Multinomial",       "Dropout"};
  std::optional<uint64_t> seed;
  each_node(model, [&](const Node& node, size_t) {
    if (!node.domain.empty() || !contains(std::span(kOps), node.op)) return;
    if (!seed) seed = 0;
    for (const Attribute& attribute : node.attributes) {
      if (attribute.name != "seed") continue;
      uint32_t bits = 0;
      std::memcpy(&bits, &attribute.float_value, sizeof bits);
      if (attribute.kind == AttributeKind::kInt) bits = static_cast<uint32_t>(attribute.int_value);
      seed = *seed * 31 + bits;
    }
  });
  return seed;
}

Tensors run_model(const Model& model, TensorSpan inputs, const RunSettings& settings) {
  size_t n_known = 0;
  const Common all = {model, settings, model.operator_sets, nullptr, &n_known};
  Tensors outputs;
  for (const ModelValue& y : Run(all, model.graph)(ModelValues(inputs.begin(), inputs.end()))) {
    outputs.push_back(y.tensor ? y.tensor : tensor_of(*y.known));
  }
  return outputs;
}

// Checks the ops and the inputs of a model, and runs it.
Tensors run_onnx(const Model& model, TensorSpan inputs) {
  require_known_ops(model);
  Scope& scope = current_scope();
  SmallVector<TensorImpl*, 6> borrowed;
  for (const Tensor& x : inputs) borrowed.push_back(x.get());
  const Scope::OnDevice on_device(scope, common_device(scope, borrowed));
  Ref<Generator> generator;
  if (const auto seed = random_seed(model)) {
    generator = Ref<Generator>::adopt(new Generator(scope, *seed));
  }
  return run_model(
      model, convert_inputs(model.graph, inputs),
      {.initial = [&](const TensorData& data) { return upload(scope, scope.device(), data); },
       .generator = generator.get()});
}

}  // namespace tenon::onnx
