#include "core/io/program.h"

#include <filesystem>

#include "core/base/error.h"
#include "core/io/onnx/external_data.h"
#include "core/io/onnx/model_program.h"

namespace tenon {

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

// As large as a message of protocol buffers can be.
constexpr uint64_t kMostBytes = uint64_t{1} << 31;

Ref<SavedProgram> read_program(Scope& scope, const std::string& path) {
  const std::filesystem::path file(path);
  std::error_code ignored;
  require_code(!std::filesystem::is_directory(file, ignored), Code::kUnimplemented,
               "\"{}\" is a folder, and programs are read from files of ONNX", path);
  try {
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
