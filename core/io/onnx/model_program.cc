#include "core/io/onnx/model_program.h"

#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/base/json.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/generator.h"
#include "core/io/onnx/describe.h"
#include "core/io/onnx/external_data.h"
#include "core/io/onnx/initializer_purposes.h"
#include "core/io/onnx/run.h"
#include "core/io/static_json.h"
#include "core/io/strict_json.h"

namespace tenon::onnx {
namespace {

// ---- the loaded model

struct Kept {
  Model model;
  OwnOps own_ops;
  Device* device = nullptr;
  Ref<Generator> generator;  // NULL if the model draws no random numbers.
  DeclaredShapes declared_shapes = DeclaredShapes::kWarned;
  struct Initial {
    Ref<Variable> variable;
    ModelValue constant;  // Used if `variable` is NULL.
  };
  std::unordered_map<const TensorData*, Initial> initials;

  // A graph input is the value of `cell` or, if that is NULL, the argument with this index.
  struct Input {
    size_t argument = 0;
    Ref<Cell> cell;
  };
  std::vector<Input> inputs;
  size_t n_arguments = 0;
  std::vector<size_t> outputs;  // Indices of the function's outputs among those of the graph.
  struct Stored {
    size_t output;
    Ref<Cell> cell;
  };
  std::vector<Stored> stored;

  static ModelValue constant(Scope& scope, const TensorData& data) {
    ModelValue value = upload(scope, scope.device(), data);
    if (std::optional<Known> known = known_elements(data)) {
      value.known = std::make_shared<const Known>(std::move(*known));
    }
    return value;
  }

  static Tensor read(Scope& scope, Cell& cell) {
    const bool is_variable = cell.kind() == Kind::kVariable;
    return is_variable ? static_cast<Variable&>(cell).read(scope) : cell.load(scope);
  }

  Tensors run(Scope& scope, TensorSpan arguments) const {
    require(arguments.size() == n_arguments, "the model takes {} inputs, but got {}", n_arguments,
            arguments.size());
    const Scope::OnDevice on_device(scope, *device);
    const auto initial = [&](const TensorData& data) -> ModelValue {
      const auto at = initials.find(&data);
      if (at == initials.end()) return constant(scope, data);
      const Initial& found = at->second;
      return found.variable ? ModelValue(found.variable->read(scope)) : found.constant;
    };
    Tensors given;
    for (const Input& input : inputs) {
      given.push_back(input.cell ? read(scope, *input.cell) : arguments[input.argument]);
    }
    const Tensors all = run_model(model, convert_inputs(model.graph, given),
                                  {initial, declared_shapes, &own_ops, generator.get()});
    Tensors results;
    for (const size_t i : outputs) results.push_back(all[i]);
    for (const Stored& each : stored) {
      if (each.cell->kind() == Kind::kVariable) {
        static_cast<Variable&>(*each.cell).assign(scope, all[each.output]);
      } else {
        each.cell->store(scope, all[each.output]);
      }
    }
    return results;
  }
};

// Converts Constant nodes to initialisers, because some files store weights in Constant nodes.
void make_initializers(Graph& graph, std::unordered_set<const TensorData*>& constants) {
  std::vector<Node> others;
  std::vector<std::string> names;
  const size_t first = graph.initializers.size();
  for (Node& node : graph.nodes) {
    for (Attribute& attribute : node.attributes) {
      if (attribute.graph) make_initializers(*attribute.graph, constants);
    }
    const bool is_constant = node.op == "Constant" && node.domain.empty() &&
                             node.attributes.size() == 1 && node.outputs.size() == 1 &&
                             node.attributes[0].name == "value" && node.attributes[0].tensor;
    if (!is_constant) {
      others.push_back(std::move(node));
      continue;
    }
    TensorData& data = *node.attributes[0].tensor;
    data.name = node.outputs[0];
    graph.initializers.push_back(std::move(data));
  }
  graph.nodes = std::move(others);
  for (size_t i = first; i < graph.initializers.size(); ++i) {
    constants.insert(&graph.initializers[i]);
  }
}

class Loader {
 public:
  Loader(Scope& scope, Variables& variables, const ModelSource& source, Kept& kept)
      : scope_(scope),
        variables_(variables),
        is_saved_(source.saved.has_value()),
        folder_(source.folder),
        kept_(kept) {}

  void load() {
    make_initializers(kept_.model.graph, constants_);
    load(kept_.model.graph, Purposes(kept_.model.graph), "");
    for (ModelFunction& function : kept_.model.functions) own(function.graph);
  }

 private:
  void load(Graph& graph, const Purposes& purposes, const std::string& prefix) {
    for (TensorData& data : graph.initializers) load(data, purposes.of(data.name), prefix);
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      Node& node = graph.nodes[i];
      for (Attribute& attribute : node.attributes) {
        if (attribute.tensor) own(*attribute.tensor);
        const std::string& name = node.name.empty() ? node.op + "_" + std::to_string(i) : node.name;
        if (attribute.graph) {
          load(*attribute.graph, purposes, prefix + name + "." + attribute.name + ".");
        }
      }
    }
  }

  void load(TensorData& data, Purpose purpose, const std::string& prefix) {
    require_code(!data.name.empty(), Code::kDataLoss, "an initialiser of {} has no name",
                 data.type);
    Kept::Initial& initial = kept_.initials[&data];
    if (is_saved_ && share(data, initial)) return;
    if (data.external) folder_.load(data);
    // A single number is usually a constant of a formula, such as an exponent or an epsilon.
    const bool is_number =
        data.type.rank() == 0 || (constants_.contains(&data) && count(data.type.shape) == 1);
    const bool is_few = is_number || known_elements(data).has_value();
    const bool may_be_constant = !is_floating(data.type.dtype) || purpose == Purpose::kConstant;
    if (is_saved_ || is_number || (may_be_constant && is_few)) {
      initial.constant = Kept::constant(scope_, data);
    } else {
      const bool trainable = is_floating(data.type.dtype) && purpose == Purpose::kTrained;
      initial.variable = Ref<Variable>::adopt(new Variable(
          scope_, upload(scope_, scope_.device(), data), free_name(prefix, data.name), trainable));
      variables_.add(initial.variable);
    }
    data.raw = {};
    data.converted = {};
  }

  // Returns true if the program already has a variable of this name, and uses that variable.
  bool share(const TensorData& data, Kept::Initial& initial) const {
    initial.variable = variables_.find(data.name);
    if (!initial.variable) return false;
    const TensorType& type = initial.variable->type();
    require_code(type.dtype == data.type.dtype && identical(type.shape, data.type.shape),
                 Code::kDataLoss,
                 "the variable \"{}\" is {}, but the initialiser of that name in a function is {}",
                 data.name, type, data.type);
    return true;
  }

  // Returns `name` or, if a variable already has that name, a unique name. Inner graphs may use one
  // name for different values.
  std::string free_name(const std::string& prefix, const std::string& name) {
    if (!variables_.find(name)) return name;
    std::string free = prefix + name;
    size_t& n = n_named_[free];  // Search continues here for the next duplicate.
    while (variables_.find(free)) free = prefix + name + "_" + std::to_string(++n);
    return free;
  }

  // Copies the elements of a tensor, because the bytes of the file are released after loading.
  void own(TensorData& data) {
    if (data.external) folder_.load(data);
    if (data.converted.empty()) {
      const auto elements = data.elements();
      data.converted.assign(elements.begin(), elements.end());
    }
    data.raw = {};
  }

  void own(Graph& graph) {
    for (TensorData& data : graph.initializers) own(data);
    for (Node& node : graph.nodes) {
      for (Attribute& attribute : node.attributes) {
        if (attribute.tensor) own(*attribute.tensor);
        if (attribute.graph) own(*attribute.graph);
      }
    }
  }

  Scope& scope_;
  Variables& variables_;
  const bool is_saved_;
  ModelFolder folder_;
  Kept& kept_;
  std::unordered_set<const TensorData*> constants_;  // Former Constant nodes.
  std::unordered_map<std::string, size_t> n_named_;
};

// ---- inputs and outputs

InputSpec input_spec_of(const ValueInfo& value) {
  InputSpec spec;
  spec.name = value.name;
  spec.dtype = dtype_of_element(value.element);
  if (!value.shape) return spec;
  Dims least;
  require_code(value.shape->size() <= kMaxRank, Code::kUnimplemented,
               "the value \"{}\" has {} axes, more than the {} that a tensor can have", value.name,
               value.shape->size(), kMaxRank);
  for (const Dimension& dimension : *value.shape) {
    require_code(dimension.size >= -1, Code::kDataLoss,
                 "the value \"{}\" is declared to be {}, but sizes must not be negative",
                 value.name, to_string(value));
    spec.sizes.push_back(dimension.size);
    spec.dim_names.push_back(dimension.size >= 0 ? "" : dimension.name);
    least.push_back(dimension.size >= 0 ? Size::number(dimension.size) : Size(1));
  }
  try {
    check_size(TensorType(spec.dtype == DType::kNone ? DType::kBool : spec.dtype, least));
  } catch (const Error& error) {
    fail_because(error, Code::kDataLoss, "the value \"{}\": {}", {value.name, error.what()});
  }
  return spec;
}

// Assigns each input and output of the graph to the function's signature or to a state.
struct Interface {
  std::vector<const ValueInfo*> inputs, outputs;

  Interface(const Graph& graph, const std::optional<SavedInterface>& saved, Kept& kept) {
    if (saved) {
      match(graph, *saved, kept);
    } else {
      for (const ValueInfo& input : graph.inputs) {
        kept.inputs.push_back({inputs.size(), {}});
        inputs.push_back(&input);
      }
      for (const ValueInfo& output : graph.outputs) {
        kept.outputs.push_back(outputs.size());
        outputs.push_back(&output);
      }
    }
    kept.n_arguments = inputs.size();
    for (const ValueInfo* input : inputs) require_numbers(*input, "input");
    for (const ValueInfo* output : outputs) require_numbers(*output, "output");
  }

 private:
  static void require_numbers(const ValueInfo& value, const char* what) {
    const bool says_nothing = value.is_tensor && value.element == 0 && *what == 'o';
    const bool is_known = value.is_tensor && dtype_of_element(value.element) != DType::kNone;
    require_code(is_known || says_nothing, Code::kUnimplemented,
                 "the {} \"{}\" is {}, which is not a tensor of numbers", what, value.name,
                 to_string(value));
  }

  // Finds values by name. Each value can be taken only once.
  class Places {
   public:
    Places(const std::vector<ValueInfo>& values, const char* what) : what_(what) {
      for (size_t i = 0; i < values.size(); ++i) free_.emplace(values[i].name, i);
    }
    size_t take(const std::string& name) {
      const auto at = free_.find(name);
      require_code(at != free_.end(), Code::kDataLoss,
                   "the graph has no {} \"{}\", or tenon.json lists it twice", what_, name);
      const size_t place = at->second;
      free_.erase(at);
      return place;
    }
    void require_none_left() const {
      require_code(free_.empty(), Code::kDataLoss, "the graph's {} \"{}\" is not used", what_,
                   free_.empty() ? "" : free_.begin()->first);
    }

   private:
    const char* what_;
    std::map<std::string, size_t> free_;
  };

  void match(const Graph& graph, const SavedInterface& saved, Kept& kept) {
    Places ins(graph.inputs, "input"), outs(graph.outputs, "output");
    kept.inputs.resize(graph.inputs.size());
    for (const std::string& name : saved.inputs) {
      const size_t place = ins.take(name);
      kept.inputs[place].argument = inputs.size();
      inputs.push_back(&graph.inputs[place]);
    }
    for (const std::string& name : saved.outputs) {
      kept.outputs.push_back(outs.take(name));
      outputs.push_back(&graph.outputs[kept.outputs.back()]);
    }
    for (const SavedInterface::State& state : saved.states) {
      const size_t in = ins.take(state.input), out = outs.take(state.output);
      require_declared(graph.inputs[in], state.cell->type());
      require_declared(graph.outputs[out], state.cell->type());
      kept.inputs[in].cell = state.cell;
      kept.stored.push_back({out, state.cell});
    }
    ins.require_none_left();
    outs.require_none_left();
  }
};

FunctionOptions make_options(std::span<const ValueInfo* const> values,
                             const std::vector<InputSpec>& inputs,
                             const std::vector<std::string>& outputs) {
  FunctionOptions options;
  for (const InputSpec& input : inputs) options.input_names.push_back(input.name);
  options.output_names = outputs;
  options.may_run_eagerly = true;
  options.has_signature = true;
  for (const ValueInfo* value : values) {
    options.has_signature = options.has_signature && value->shape.has_value();
  }
  if (options.has_signature) options.signature = inputs;
  return options;
}

Json describe_values(std::span<const ValueInfo* const> values) {
  Json list = Json::array();
  for (const ValueInfo* value : values) {
    list.push_back({{"name", value->name}, {"type", to_string(*value)}});
  }
  return list;
}

std::string describe_signature(const OwnedStatics& statics, const Interface& interface,
                               const Model& model) {
  Json ops = Json::object(), sets = Json::object();
  for (const auto& [op, n] : op_counts(model)) ops[op] = n;
  for (const OperatorSet& set : model.operator_sets) {
    sets[set.domain.empty() ? "ai.onnx" : set.domain] = set.version;
  }
  return Json{{"statics", json_of_statics(statics.all())},
              {"inputs", describe_values(interface.inputs)},
              {"outputs", describe_values(interface.outputs)},
              {"ops", ops},
              {"operator_sets", sets}}
      .dump();
}

}  // namespace

Ref<Variable> Variables::find(const std::string& name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? Ref<Variable>() : at->second;
}

ReadModel read_model(Scope& scope, ModelSource source, Variables& variables) {
  auto kept = std::make_shared<Kept>();
  kept->device = &scope.device();
  kept->model = parse_model(source.bytes);
  check_model(kept->model);
  require_known_ops(kept->model);
  kept->own_ops = own_ops_of(kept->model);
  if (const auto seed = random_seed(kept->model)) {
    kept->generator = Ref<Generator>::adopt(new Generator(scope, *seed));
  }
  ReadModel made;
  made.name = source.name.empty() ? kept->model.graph.name : source.name;
  if (made.name.empty()) made.name = source.stem;
  ProgramSignature& signature = made.signature;
  signature.statics = source.saved ? source.saved->statics : std::make_shared<const OwnedStatics>();
  const Interface interface(kept->model.graph, source.saved, *kept);
  for (const ValueInfo* input : interface.inputs) signature.inputs.push_back(input_spec_of(*input));
  for (const ValueInfo* output : interface.outputs) {
    signature.outputs.push_back(output->name);
    signature.output_specs.push_back(input_spec_of(*output));
  }
  FunctionOptions options = make_options(interface.inputs, signature.inputs, signature.outputs);
  if (source.saved) options.defaults = source.saved->defaults;
  signature.description = describe_signature(*signature.statics, interface, kept->model);
  if (source.saved || source.strict) kept->declared_shapes = DeclaredShapes::kRequired;
  Loader(scope, variables, source, *kept).load();
  const Function::Body body = [kept](Scope& inner, TensorSpan inputs, const Statics&) {
    return kept->run(inner, inputs);
  };
  made.function =
      Ref<Function>::adopt(new Function(scope.context(), made.name, body, std::move(options)));
  return made;
}

Ref<SavedProgram> program_of(std::vector<ProgramFunction> functions, const Variables& variables) {
  Json described = {{"functions", Json::array()}, {"variables", Json::array()}};
  for (const ProgramFunction& function : functions) {
    Json signatures = Json::array();
    for (const ProgramSignature& each : function.signatures) {
      signatures.push_back(parse_strict_json(each.description, 8 + kMaxStaticDepth, function.name));
    }
    described["functions"].push_back({{"name", function.name},
                                      {"defaults", json_of_statics(function.function->defaults())},
                                      {"signatures", std::move(signatures)}});
  }
  for (const Ref<Variable>& variable : variables.all()) {
    described["variables"].push_back({{"name", variable->name()},
                                      {"type", format("{}", {variable->type()})},
                                      {"bytes", bytes_of(variable->type())},
                                      {"trainable", variable->trainable()}});
  }
  return Ref<SavedProgram>::adopt(
      new SavedProgram(std::move(functions), variables.all(), described.dump()));
}

Ref<SavedProgram> program_of_model(Scope& scope, ModelSource source) {
  Variables variables;
  ReadModel read = read_model(scope, std::move(source), variables);
  std::vector<ProgramFunction> functions;
  functions.push_back({std::move(read.name), std::move(read.function), {}});
  functions.back().signatures.push_back(std::move(read.signature));
  return program_of(std::move(functions), variables);
}

}  // namespace tenon::onnx
