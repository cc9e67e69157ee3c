#include "core/io/save_program.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/variable.h"
#include "core/io/onnx/export_graph.h"
#include "core/io/safetensors.h"

namespace tenon {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kWeights = "weights.safetensors";
constexpr const char* kDescription = "tenon.json";

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

// Every tensor and state of all traces, under a name that is that of no argument either.
onnx::StoredNames names_of_stored(std::span<const FunctionToSave> functions) {
  onnx::StoredNames stored;
  onnx::Names names;
  for (const FunctionToSave& f : functions) {
    for (size_t i = 0; i < f.trace->n_arguments(); ++i) names.take(f.trace->argument_name(i));
  }
  for (const FunctionToSave& f : functions) {
    for (const Ref<Cell>& cell : f.trace->states()) {
      if (cell->type().is_token() || stored.cells.contains(cell.get())) continue;
      std::string name = "generator";
      if (cell->kind() == Kind::kVariable) name = static_cast<Variable&>(*cell).name();
      stored.cells[cell.get()] = names.fresh(name.empty() ? "variable" : name);
    }
    for (const Tensor& x : f.trace->captures()) {
      const auto [at, is_new] = stored.captures.try_emplace(x->give_identity());
      if (is_new) at->second = names.fresh("capture");
    }
  }
  return stored;
}

std::vector<TensorToStore> weights_of(Scope& scope, std::span<const FunctionToSave> functions,
                                      const onnx::StoredNames& stored) {
  std::vector<TensorToStore> all;
  std::vector<std::string> listed;
  const auto add = [&](const std::string& name, const Tensor& x) {
    if (contains(listed, name)) return;
    listed.push_back(name);
    const auto read = [&scope, x](void* to, uint64_t size) { to_host(scope, x, to, size); };
    all.push_back({name, x->type, read});
  };
  for (const FunctionToSave& f : functions) {
    for (const Ref<Cell>& cell : f.trace->states()) {
      if (!cell->type().is_token()) add(stored.cells.at(cell.get()), cell->held());
    }
    for (const Tensor& x : f.trace->captures()) add(stored.captures.at(x->give_identity()), x);
  }
  return all;
}

bool is_trainable(const Cell& cell) {
  return cell.kind() == Kind::kVariable && static_cast<const Variable&>(cell).trainable();
}

std::string description(std::span<const onnx::ExportedModel> models,
                        const onnx::StoredNames& stored,
                        std::span<const FunctionToSave> functions) {
  Json all = Json::object();
  for (const onnx::ExportedModel& model : models) {
    Json states = Json::array(), captures = Json::array();
    for (const auto& state : model.states) {
      if (state.input.empty()) continue;  // Only read: an initialiser.
      states.push_back({{"input", state.input},
                        {"output", state.output},
                        {"variable", stored.cells.at(state.cell)},
                        {"trainable", is_trainable(*state.cell)}});
    }
    for (const std::string& name : model.captures) {
      if (!contains(captures, Json(name))) captures.push_back(name);
    }
    all[model.name] = {{"file", model.name + ".onnx"},
                       {"inputs", model.inputs},
                       {"outputs", model.outputs},
                       {"states", std::move(states)},
                       {"captures", std::move(captures)}};
  }
  Json variables = Json::array();
  std::vector<const Cell*> listed;
  for (const FunctionToSave& f : functions) {
    for (const Ref<Cell>& cell : f.trace->states()) {
      if (cell->type().is_token() || contains(listed, cell.get())) continue;
      listed.push_back(cell.get());
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
  try {
    return json.dump(2) + "\n";
  } catch (const Json::type_error&) {
    fail(Code::kInvalidArgument, "a name is not UTF-8");
  }
}

// Files that are written beside their names, and take them together.
class NewFiles {
 public:
  explicit NewFiles(const std::string& folder) : folder_(folder) {
    std::error_code error;
    made_folder_ = fs::create_directory(folder_, error);
    if (error || !fs::is_directory(folder_)) {
      const bool nowhere = error == std::errc::no_such_file_or_directory;
      fail(nowhere ? Code::kNotFound : Code::kUnavailable, "{}: cannot be made a folder: {}",
           {folder, error ? error.message() : "it is a file"});
    }
  }
  ~NewFiles() {
    if (is_done_) return;
    std::error_code ignored;
    for (const std::string& name : names_) fs::remove(partial(name), ignored);
    if (made_folder_) fs::remove(folder_, ignored);
  }
  NewFiles(const NewFiles&) = delete;

  std::string partial(const std::string& name) const {
    return (folder_ / (name + ".new")).string();
  }
  // Where to write a file.
  std::string add(const std::string& name) {
    names_.push_back(name);
    return partial(name);
  }
  void write(const std::string& name, const std::string& bytes) {
    const std::string path = partial(name);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (file) add(name);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    require_code(bool(file), Code::kUnavailable, "{}: cannot be written: {}", path,
                 std::strerror(errno));
  }
  // In the order in which they were added.
  void finish() {
    for (const std::string& name : names_) {
      std::error_code error;
      fs::rename(partial(name), folder_ / name, error);
      require_code(!error, Code::kUnavailable, "{}: cannot be replaced: {}",
                   (folder_ / name).string(), error.message());
    }
    is_done_ = true;
  }

 private:
  fs::path folder_;
  bool made_folder_ = false, is_done_ = false;
  std::vector<std::string> names_;
};

}  // namespace

void save_program(Scope& scope, const std::string& path,
                  std::span<const FunctionToSave> functions) {
  require_code(!scope.traced_cells(), Code::kFailedPrecondition,
               "a program cannot be saved by code under trace");
  require(!functions.empty(), "there is no function to save");
  for (size_t i = 0; i < functions.size(); ++i) {
    check_name(functions[i].name);
    const bool again = any_of(functions.subspan(0, i), [&](const FunctionToSave& other) {
      return other.name == functions[i].name;
    });
    require(!again, "two functions are called {}", functions[i].name);
  }
  const onnx::StoredNames stored = names_of_stored(functions);
  onnx::Unsayable unsayable;
  std::vector<onnx::ExportedModel> models;
  for (const FunctionToSave& f : functions) {
    models.push_back(onnx::export_model(scope, f.name, *f.trace, stored, unsayable));
  }
  if (unsayable.any()) unsayable.fail(path);

  const std::string text = description(models, stored, functions);
  NewFiles files(path);
  const std::string weights = files.add(kWeights);
  save_safetensors(weights, weights_of(scope, functions, stored), {{"format", "tenon program"}});
  const Ref<Safetensors> written = Safetensors::open(weights);
  for (const onnx::ExportedModel& model : models) {
    files.write(model.name + ".onnx",
                onnx::model_bytes(model, kWeights, [&](const std::string& name) {
                  const StoredTensor& tensor = written->find(name);
                  return std::pair(tensor.begin, tensor.size);
                }));
  }
  files.write(kDescription, text);
  files.finish();
}

}  // namespace tenon
