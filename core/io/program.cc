#include "core/io/program.h"

#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/generator.h"
#include "core/io/folder_lock.h"
#include "core/io/onnx/external_data.h"
#include "core/io/onnx/model_program.h"
#include "core/io/program_json.h"
#include "core/io/safetensors.h"
#include "core/io/static_json.h"
#include "core/trace/signatures.h"

namespace tenon {
namespace {

// Maximum size of a model file in bytes, which is also the limit of protocol buffers.
constexpr uint64_t kMaxBytes = uint64_t{1} << 31;

// ---- reading a saved folder

class Folder {
 public:
  Folder(Scope& scope, const std::string& path)
      : scope_(scope), path_(path), files_(path), json_(read_program_json(files_)) {}

  Ref<SavedProgram> read() {
    read_cells();
    std::vector<ProgramFunction> functions;
    for (const auto& [name, entry] : json_["functions"].items()) {
      functions.push_back(read_function(name, entry));
    }
    return onnx::program_of(std::move(functions), variables_);
  }

 private:
  // Reads the values of all variables and generators from the weights file.
  void read_cells() {
    const std::string weights = json_["weights"].text();
    const auto read = [&](uint64_t offset, void* to, uint64_t size) {
      files_.open(weights).read(offset, to, size);
    };
    const SafetensorsHeader header = SafetensorsHeader::parse(files_.open(weights).size(), read);
    std::map<std::string_view, const StoredTensor*> stored;
    for (const StoredTensor& tensor : header.tensors) stored.emplace(tensor.name, &tensor);
    for (const Json& entry : json_["variables"]) {
      require_keys(
          entry, "a variable in tenon.json",
          {{"name", JsonForm::kText}, {"kind", JsonForm::kText}, {"trainable", JsonForm::kBool}});
      const std::string name = entry["name"].text();
      const auto at = stored.find(name);
      require_code(at != stored.end(), Code::kDataLoss,
                   "\"{}\" has no tensor for the variable \"{}\"", weights, name);
      const StoredTensor& tensor = *at->second;
      const Tensor value =
          from_host(scope_, scope_.device(), tensor.type, read_elements(tensor, read).data());
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
                 "the variable \"{}\" is a {}, which is not supported", name, entry["kind"].dump());
    require_code(value->type.dtype == Generator::state_type().dtype &&
                     identical(value->shape(), Generator::state_type().shape),
                 Code::kDataLoss, "the generator \"{}\" is {}, not {}", name, value->type,
                 Generator::state_type());
    const auto generator = Ref<Generator>::adopt(new Generator(scope_, 0));
    generator->set_state(scope_, value);
    return Ref<Cell>::share(generator.get());
  }

  ProgramFunction read_function(const std::string& name, const Json& entry) {
    const std::string what = "the function \"" + name + "\" in tenon.json";
    require_keys(entry, what, {{"defaults", JsonForm::kObject}, {"signatures", JsonForm::kList}});
    const auto defaults = statics_of_json(entry["defaults"], what);
    ProgramFunction function = {.name = name};
    std::vector<Function::Signature> signatures;
    for (const Json& each : entry["signatures"]) {
      onnx::ReadModel read = read_signature(name, what, each, defaults);
      for (const ProgramSignature& other : function.signatures) {
        const bool are_one = other.statics->key() == read.signature.statics->key() &&
                             have_equal_inputs(other.inputs, read.signature.inputs);
        require_code(!are_one, Code::kDataLoss, "{} has the signature {} twice", what,
                     signature_text(other.inputs, other.statics.get()));
      }
      signatures.push_back({std::move(read.function), read.signature.statics});
      function.signatures.push_back(std::move(read.signature));
    }
    require_code(!signatures.empty(), Code::kDataLoss, "{} has no signature", what);
    function.function =
        Ref<Function>::adopt(new Function(scope_.context(), name, std::move(signatures), defaults));
    return function;
  }

  onnx::ReadModel read_signature(const std::string& name, const std::string& what,
                                 const Json& entry,
                                 const std::shared_ptr<const OwnedStatics>& defaults) {
    require_keys(entry, what,
                 {{"file", JsonForm::kText},
                  {"statics", JsonForm::kObject},
                  {"inputs", JsonForm::kList},
                  {"outputs", JsonForm::kList},
                  {"states", JsonForm::kList},
                  {"captures", JsonForm::kList}});
    read_texts(entry["captures"], what);
    onnx::SavedInterface saved;
    saved.inputs = read_texts(entry["inputs"], what);
    saved.outputs = read_texts(entry["outputs"], what);
    saved.statics = statics_of_json(entry["statics"], what);
    saved.defaults = defaults;
    for (const Json& state : entry["states"]) {
      require_keys(state, "a state of " + what,
                   {{"input", JsonForm::kText},
                    {"output", JsonForm::kText},
                    {"variable", JsonForm::kText},
                    {"trainable", JsonForm::kBool}});
      const auto cell = cells_.find(state["variable"].text());
      require_code(cell != cells_.end(), Code::kDataLoss, "{}: there is no variable {}", what,
                   state["variable"].dump());
      saved.states.push_back({state["input"].text(), state["output"].text(), cell->second});
    }
    const std::string file = entry["file"].text();
    require_code(models_.insert(file).second, Code::kDataLoss,
                 "{}: \"{}\" is the model of two signatures", what, file);
    try {
      onnx::ModelSource source = {.bytes = onnx::read_whole(files_.open(file), kMaxBytes, file),
                                  .name = name,
                                  .folder = path_,
                                  .saved = std::move(saved)};
      return onnx::read_model(scope_, std::move(source), variables_);
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
  std::set<std::string> models_;  // Names of the model files that were read.
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
  fail(Code::kNotFound, "the program has no function \"{}\"; its functions are {}", {name, names});
}

Ref<SavedProgram> read_program(Scope& scope, const std::string& path, const ReadOptions& options) {
  const std::filesystem::path file(path);
  std::error_code ignored;
  try {
    if (std::filesystem::is_directory(file, ignored)) {
      if (FolderLock::is_half_done(path, kProgramJson)) {
        const FolderLock alone(path, FolderLock::Kind::kExclusive);
        FolderLock::restore(path, kProgramJson);
      }
      const FolderLock shared(path, FolderLock::Kind::kShared);
      return Folder(scope, path).read();
    }
    const std::string folder = file.parent_path().string();
    onnx::ModelSource source = {.bytes = onnx::read_whole_file(path, kMaxBytes),
                                .stem = file.stem().string(),
                                .folder = folder.empty() ? "." : folder,
                                .strict = options.strict};
    return onnx::program_of_model(scope, std::move(source));
  } catch (const Error& error) {
    fail_because(error, error.code(), "{}: {}", {path, error.what()});
  }
}

}  // namespace tenon
