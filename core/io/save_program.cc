#include "core/io/save_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/immortal.h"
#include "core/base/json.h"
#include "core/base/search.h"
#include "core/base/work_steps.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/variable.h"
#include "core/io/folder_lock.h"
#include "core/io/folder_update.h"
#include "core/io/onnx/export_graph.h"
#include "core/io/program_json.h"
#include "core/io/safetensors.h"
#include "core/io/static_json.h"
#include "core/trace/signatures.h"

namespace tenon {
namespace {

constexpr const char* kWeights = "weights.safetensors";

// Throws unless `name` can be the name of a function and its file.
void check_name(const std::string& name) {
  const bool fits = !name.empty() && name[0] != '.' && all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  require(
      fits,
      "\"{}\" cannot name a function in a folder: use letters, digits, \"_\", \"-\" and, not at "
      "the start, \".\"",
      name);
}

// ---- checks of signatures

// Returns *statics, or empty static arguments if `statics` is NULL.
const OwnedStatics& statics_or_empty(const std::shared_ptr<const OwnedStatics>& statics) {
  static const Immortal<OwnedStatics> none{std::in_place};
  return statics ? *statics : none.get();
}
// Returns the static arguments of a trace; empty if it has none.
const OwnedStatics& statics_of(const Trace& trace) { return statics_or_empty(trace.statics().all); }
// Returns the defaults of the static arguments of a trace's function; empty if there are none.
const OwnedStatics& defaults_of(const Trace& trace) {
  return statics_or_empty(trace.statics().defaults);
}

// Throws if two traces cannot be signatures of one function: if calls could not distinguish them,
// or if their defaults of static arguments differ.
void check_pair(const std::string& name, const Trace& a, const Trace& b) {
  const std::vector<InputSpec> specs = input_specs_of(a);
  const bool are_one =
      statics_of(a).key() == statics_of(b).key() && have_equal_inputs(specs, input_specs_of(b));
  require(!are_one, "two signatures of {} are equal: {}", name,
          signature_text(specs, &statics_of(a)));
  require(defaults_of(a).key() == defaults_of(b).key(),
          "traces of {} come from functions with different defaults: {}, and {}", name,
          defaults_of(a).text(), defaults_of(b).text());
}

void check_functions(std::span<const FunctionToSave> functions) {
  require(!functions.empty(), "there is no function to save");
  for (size_t i = 0; i < functions.size(); ++i) {
    check_name(functions[i].name);
    for (const FunctionToSave& other : functions.subspan(0, i)) {
      if (other.name == functions[i].name)
        check_pair(other.name, *other.trace, *functions[i].trace);
    }
  }
}

// Returns the file name of each model. The first signature of a function NAME is NAME.onnx. Further
// ones are NAME.2.onnx and so on, skipping names that are taken.
std::vector<std::string> file_names(std::span<const FunctionToSave> functions) {
  std::set<std::string> taken, begun;
  for (const FunctionToSave& f : functions) taken.insert(f.name + ".onnx");
  std::vector<std::string> names;
  for (const FunctionToSave& f : functions) {
    std::string name = f.name + ".onnx";
    if (!begun.insert(f.name).second) {
      size_t n = 2;
      do {
        name = f.name + "." + std::to_string(n++) + ".onnx";
      } while (!taken.insert(name).second);
    }
    names.push_back(name);
  }
  return names;
}

// Adds to `unsayable` each static argument of the function that JSON cannot represent.
void check_statics(const FunctionToSave& f, onnx::Inexpressible& unsayable) {
  for (const OwnedStatics* statics : {&statics_of(*f.trace), &defaults_of(*f.trace)}) {
    try {
      json_of_statics(statics->all());
    } catch (const Error& error) {
      if (error.is_transient()) throw;
      unsayable.add(f.name + ": " + error.what());
    }
  }
}

// ---- captured tensors and states

// Assigns a unique name to every captured tensor and state of all traces. The names also differ
// from the names of arguments and outputs.
onnx::StoredNames names_of_stored(std::span<const FunctionToSave> functions) {
  onnx::StoredNames stored;
  onnx::Names names;
  for (const FunctionToSave& f : functions) {
    for (size_t i = 0; i < f.trace->n_arguments(); ++i) names.take(f.trace->argument_name(i));
    for (size_t i = 0; i < f.trace->n_outputs(); ++i) {
      if (!f.trace->output_name(i).empty()) names.take(f.trace->output_name(i));
    }
  }
  for (const FunctionToSave& f : functions) {
    for (const Ref<Cell>& cell : f.trace->states()) {
      if (cell->type().is_token() || stored.cells.contains(cell.get())) continue;
      std::string name = "generator";
      if (cell->kind() == Kind::kVariable) name = static_cast<Variable&>(*cell).name();
      stored.cells[cell.get()] = names.fresh(name.empty() ? "variable" : name);
    }
    for (const Tensor& x : f.trace->captures()) {
      const auto [at, is_new] = stored.captures.try_emplace(x->assign_identity());
      if (is_new) at->second = names.fresh("capture");
    }
  }
  return stored;
}

// Returns the captured tensors and the values of all states, under their names in `stored`.
std::vector<TensorToStore> weights_of(Scope& scope, std::span<const FunctionToSave> functions,
                                      const onnx::StoredNames& stored) {
  std::vector<TensorToStore> all;
  std::unordered_set<std::string> listed;
  const auto add = [&](const std::string& name, const Tensor& x) {
    count_steps();
    if (!listed.insert(name).second) return;
    const auto read = [&scope, x](void* to, uint64_t size) { to_host(scope, x, to, size); };
    all.push_back({name, x->type, read});
  };
  for (const FunctionToSave& f : functions) {
    for (const Ref<Cell>& cell : f.trace->states()) {
      if (!cell->type().is_token()) add(stored.cells.at(cell.get()), cell->load_untraced());
    }
    for (const Tensor& x : f.trace->captures()) add(stored.captures.at(x->assign_identity()), x);
  }
  return all;
}

bool is_trainable(const Cell& cell) {
  return cell.kind() == Kind::kVariable && static_cast<const Variable&>(cell).trainable();
}

// ---- tenon.json

// Returns the content of tenon.json.
std::string description(std::span<const onnx::ExportedModel> models,
                        std::span<const std::string> files, const onnx::StoredNames& stored,
                        std::span<const FunctionToSave> functions) {
  Json all = Json::object();
  for (size_t i = 0; i < models.size(); ++i) {
    const onnx::ExportedModel& model = models[i];
    const Trace& trace = *functions[i].trace;
    Json states = Json::array(), captures = Json::array();
    std::unordered_set<std::string> captured;
    for (const auto& state : model.states) {
      if (state.input.empty()) continue;  // A state that is only read is an initialiser.
      states.push_back({{"input", state.input},
                        {"output", state.output},
                        {"variable", stored.cells.at(state.cell)},
                        {"trainable", is_trainable(*state.cell)}});
    }
    for (const std::string& name : model.captures) {
      count_steps();
      if (captured.insert(name).second) captures.push_back(name);
    }
    Json& function = all[model.name];
    function["defaults"] = json_of_statics(defaults_of(trace).all());
    function["signatures"].push_back({{"file", files[i]},
                                      {"statics", json_of_statics(statics_of(trace).all())},
                                      {"inputs", model.inputs},
                                      {"outputs", model.outputs},
                                      {"states", std::move(states)},
                                      {"captures", std::move(captures)}});
  }
  Json variables = Json::array();
  std::unordered_set<const Cell*> listed;
  for (const FunctionToSave& f : functions) {
    for (const Ref<Cell>& cell : f.trace->states()) {
      count_steps();
      if (cell->type().is_token() || !listed.insert(cell.get()).second) continue;
      const bool is_variable = cell->kind() == Kind::kVariable;
      variables.push_back({{"name", stored.cells.at(cell.get())},
                           {"kind", is_variable ? "variable" : "generator"},
                           {"trainable", is_trainable(*cell)}});
    }
  }
  const Json json = {{"format", "tenon program"},
                     {"version", 1},
                     {"weights", kWeights},
                     {"functions", std::move(all)},
                     {"variables", std::move(variables)}};
  return json.dump(2) + "\n";
}

}  // namespace

void save_program(Scope& scope, const std::string& path,
                  std::span<const FunctionToSave> functions) {
  require_code(!scope.traced_cells(), Code::kFailedPrecondition,
               "a program cannot be saved while tracing");
  check_functions(functions);
  const onnx::StoredNames stored = names_of_stored(functions);
  onnx::Inexpressible unsayable;
  std::vector<onnx::ExportedModel> models;
  for (const FunctionToSave& f : functions) {
    models.push_back(onnx::export_model(scope, f.name, *f.trace, stored, unsayable));
    check_statics(f, unsayable);
  }
  if (unsayable.any()) unsayable.fail(path);

  const std::vector<std::string> names = file_names(functions);
  const std::string text = description(models, names, stored, functions);
  FolderUpdate files(path);
  const std::string weights = files.add(kWeights);
  save_safetensors(weights, weights_of(scope, functions, stored), {{"format", "tenon program"}});
  const Ref<Safetensors> written = Safetensors::open(weights);
  for (size_t i = 0; i < models.size(); ++i) {
    files.write(names[i], onnx::model_bytes(models[i], kWeights, [&](const std::string& name) {
                  const StoredTensor& tensor = written->find(name);
                  return std::pair(tensor.begin, tensor.size);
                }));
  }
  files.write(kProgramJson, text);
  const FolderLock lock(path, FolderLock::Kind::kExclusive);
  FolderLock::restore(path, kProgramJson);
  for (const std::string& name : listed_files(path)) files.remove(name);
  files.finish();
}

}  // namespace tenon
