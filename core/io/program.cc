#include "core/io/program.h"

#include <filesystem>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/generator.h"
#include "core/io/onnx/external_data.h"
#include "core/io/onnx/model_program.h"
#include "core/io/safetensors.h"
#include "core/io/strict_json.h"

namespace tenon {
namespace {

using Json = nlohmann::json;

// As large as a message of protocol buffers can be.
constexpr uint64_t kMostBytes = uint64_t{1} << 31;

// ---- tenon.json, in which everything has one meaning and nothing is ignored

enum class Form { kText, kBool, kList, kObject };

bool is_of(const Json& value, Form form) {
  switch (form) {
    case Form::kText:
      return value.is_string();
    case Form::kBool:
      return value.is_boolean();
    case Form::kList:
      return value.is_array();
    case Form::kObject:
      return value.is_object();
  }
  return false;
}

struct Key {
  const char* name;
  Form form;
};

// Throws DATA_LOSS unless an object has exactly these keys.
void require_keys(const Json& object, std::string_view what, std::initializer_list<Key> keys) {
  require_code(object.is_object(), Code::kDataLoss, "{} is no object", what);
  for (const Key& key : keys) {
    const auto at = object.find(key.name);
    require_code(at != object.end() && is_of(*at, key.form), Code::kDataLoss,
                 "{} has no \"{}\", or it is of another kind", what, key.name);
  }
  for (const auto& item : object.items()) {
    const std::string& name = item.key();
    require_code(any_of(keys, [&](const Key& key) { return name == key.name; }), Code::kDataLoss,
                 "{} has \"{}\", which is not known here", what, name);
  }
}

std::vector<std::string> texts_in(const Json& list, std::string_view what) {
  std::vector<std::string> texts;
  for (const Json& each : list) {
    require_code(each.is_string(), Code::kDataLoss, "{} is a list of names, and {} is none", what,
                 each.dump());
    texts.push_back(each.get<std::string>());
  }
  return texts;
}

// ---- a folder

class Folder {
 public:
  Folder(Scope& scope, const std::string& path)
      : scope_(scope),
        path_(path),
        files_(path),
        json_(
            parse_strict_json(onnx::read_whole(files_.open("tenon.json"), kMostJson, "tenon.json"),
                              kDeepest, "tenon.json")) {}

  Ref<SavedProgram> read() {
    require_code(json_.is_object() && json_.value("format", Json()) == "tenon program",
                 Code::kDataLoss, "tenon.json describes no program");
    require_code(json_.value("version", Json()) == 1, Code::kUnimplemented,
                 "tenon.json is of version {}, and 1 is known here",
                 json_.value("version", Json()).dump());
    Json parts = json_;
    parts.erase("version");
    require_keys(parts, "tenon.json",
                 {{"format", Form::kText},
                  {"weights", Form::kText},
                  {"functions", Form::kObject},
                  {"variables", Form::kList}});
    read_cells();
    std::vector<ProgramFunction> functions;
    std::vector<std::string> descriptions;
    for (const auto& [name, entry] : json_["functions"].items()) {
      descriptions.emplace_back();
      functions.push_back(read_function(name, entry, descriptions.back()));
    }
    return onnx::program_of(std::move(functions), descriptions, variables_);
  }

 private:
  static constexpr uint64_t kMostJson = uint64_t{1} << 26;
  static constexpr int kDeepest = 6;

  // What variables and generators hold.
  void read_cells() {
    const std::string weights = json_["weights"].get<std::string>();
    const auto read = [&](uint64_t offset, void* to, uint64_t size) {
      files_.open(weights).read(offset, to, size);
    };
    const SafetensorsHeader header = SafetensorsHeader::parse(files_.open(weights).size(), read);
    std::map<std::string_view, const StoredTensor*> stored;
    for (const StoredTensor& tensor : header.tensors) stored.emplace(tensor.name, &tensor);
    for (const Json& entry : json_["variables"]) {
      require_keys(entry, "a variable in tenon.json",
                   {{"name", Form::kText}, {"kind", Form::kText}, {"trainable", Form::kBool}});
      const std::string name = entry["name"].get<std::string>();
      const auto at = stored.find(name);
      require_code(at != stored.end(), Code::kDataLoss,
                   "\"{}\" has no tensor for the variable \"{}\"", weights, name);
      const StoredTensor& tensor = *at->second;
      std::vector<std::byte> bytes(tensor.size);
      read(tensor.begin, bytes.data(), tensor.size);
      const Tensor value = from_host(scope_, scope_.device(), tensor.type, bytes.data());
      const bool is_new = cells_.emplace(name, cell_of(entry, name, value)).second;
      require_code(is_new, Code::kDataLoss, "tenon.json has the variable \"{}\" twice", name);
    }
  }

  Ref<Cell> cell_of(const Json& entry, const std::string& name, const Tensor& value) {
    const bool trainable = entry["trainable"].get<bool>();
    if (entry["kind"] == "variable") {
      const auto variable = Ref<Variable>::adopt(new Variable(scope_, value, name, trainable));
      variables_.add(variable);
      return Ref<Cell>::share(variable.get());
    }
    require_code(entry["kind"] == "generator" && !trainable, Code::kDataLoss,
                 "the variable \"{}\" is a {}, which is not known here", name,
                 entry["kind"].dump());
    require_code(value->type.dtype == Generator::state_type().dtype &&
                     identical(value->shape(), Generator::state_type().shape),
                 Code::kDataLoss, "the generator \"{}\" is {}, not {}", name, value->type,
                 Generator::state_type());
    const auto generator = Ref<Generator>::adopt(new Generator(scope_, 0));
    generator->set_state(scope_, value);
    return Ref<Cell>::share(generator.get());
  }

  ProgramFunction read_function(const std::string& name, const Json& entry,
                                std::string& description) {
    const std::string what = "the function \"" + name + "\" in tenon.json";
    require_keys(entry, what,
                 {{"file", Form::kText},
                  {"inputs", Form::kList},
                  {"outputs", Form::kList},
                  {"states", Form::kList},
                  {"captures", Form::kList}});
    texts_in(entry["captures"], what);
    onnx::SavedInterface saved;
    saved.inputs = texts_in(entry["inputs"], what);
    saved.outputs = texts_in(entry["outputs"], what);
    for (const Json& state : entry["states"]) {
      require_keys(state, "a state of " + what,
                   {{"input", Form::kText},
                    {"output", Form::kText},
                    {"variable", Form::kText},
                    {"trainable", Form::kBool}});
      const auto cell = cells_.find(state["variable"].get<std::string>());
      require_code(cell != cells_.end(), Code::kDataLoss, "{}: there is no variable {}", what,
                   state["variable"].dump());
      saved.states.push_back(
          {state["input"].get<std::string>(), state["output"].get<std::string>(), cell->second});
    }
    const std::string file = entry["file"].get<std::string>();
    try {
      onnx::ModelSource source = {.bytes = onnx::read_whole(files_.open(file), kMostBytes, file),
                                  .name = name,
                                  .folder = path_,
                                  .saved = std::move(saved)};
      return onnx::function_of_model(scope_, std::move(source), variables_, description);
    } catch (const Error& error) {
      fail_because(error, error.code(), "{}: {}", {file, error.what()});
    }
  }

  Scope& scope_;
  std::string path_;
  onnx::ModelFolder files_;
  const Json json_;
  onnx::Variables variables_;
  std::map<std::string, Ref<Cell>> cells_;
};

}  // namespace

SavedProgram::SavedProgram(std::vector<ProgramFunction> functions,
                           std::vector<Ref<Variable>> variables, std::string description)
    : Object(Kind::kProgram),
      functions_(std::move(functions)),
      variables_(std::move(variables)),
      description_(std::move(description)) {}

const ProgramFunction& SavedProgram::find(std::string_view name) const {
  std::string names;
  for (const ProgramFunction& function : functions_) {
    if (function.name == name || (name.empty() && functions_.size() == 1)) return function;
    names += (names.empty() ? "" : ", ") + function.name;
  }
  fail(Code::kNotFound, "the program has no function \"{}\"; it has {}", {name, names});
}

Ref<SavedProgram> read_program(Scope& scope, const std::string& path) {
  const std::filesystem::path file(path);
  std::error_code ignored;
  try {
    if (std::filesystem::is_directory(file, ignored)) return Folder(scope, path).read();
    const std::string folder = file.parent_path().string();
    onnx::ModelSource source = {.bytes = onnx::read_whole_file(path, kMostBytes),
                                .stem = file.stem().string(),
                                .folder = folder.empty() ? "." : folder};
    return onnx::program_of_model(scope, std::move(source));
  } catch (const Error& error) {
    fail_because(error, error.code(), "{}: {}", {path, error.what()});
  }
}

}  // namespace tenon
