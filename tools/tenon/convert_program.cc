// `tenon convert`: converts an ONNX model of any supported operator set, or a program, to a program
// of the current operator set.

#include <fmt/core.h>

#include <filesystem>

#include "tools/tenon/failure.h"
#include "tools/tenon/program_call.h"
#include "tools/tenon/text.h"

namespace tenon::command {
namespace {

// Whether the name consists of characters that are valid in file names everywhere.
bool can_name_a_file(const std::string& name) {
  return !name.empty() && name[0] != '.' &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
             "0123456789_.-") == std::string::npos;
}

// Returns the name for a saved function: the option --name, the graph's name or, if that is not a
// valid file name, the name of the model's file.
std::string name_for(const ProgramFunction& function, const ConvertOptions& options, size_t n) {
  if (n == 1 && !options.name.empty()) return options.name;
  const std::string stem = std::filesystem::path(options.path).stem().string();
  for (const std::string& name : {function.name, n == 1 ? stem : ""}) {
    if (can_name_a_file(name)) return name;
  }
  throw Failure(
      fmt::format("the name of the function, '{}', is not a valid file name; choose "
                  "another with --name",
                  function.name));
}

// Returns the inputs with unknown sizes replaced by the sizes of the command line.
std::vector<InputSpec> with_sizes(std::vector<InputSpec> inputs, const Sizes& sizes) {
  for (InputSpec& spec : inputs) {
    for (size_t axis = 0; axis < spec.shape.size(); ++axis) {
      if (spec.shape[axis] != TENON_SIZE_UNKNOWN) continue;
      const auto own = sizes.find(unknown_size_name(spec, axis));
      if (own == sizes.end()) continue;
      spec.shape[axis] = own->second;
      if (axis < spec.size_names.size()) spec.size_names[axis].clear();
    }
  }
  return inputs;
}

// Traces a function. If that fails, adds to the error a list of the sizes that are still unknown.
Trace trace_function(const Function& code, const std::vector<InputSpec>& inputs,
                     const Statics& statics) {
  try {
    return code.trace(inputs, statics);
  } catch (const Error& error) {
    std::string open;
    for (const InputSpec& spec : inputs) {
      for (size_t axis = 0; axis < spec.shape.size(); ++axis) {
        if (spec.shape[axis] != TENON_SIZE_UNKNOWN) continue;
        open += (open.empty() ? "" : ", ") + unknown_size_name(spec, axis);
      }
    }
    if (open.empty()) throw;
    throw Failure(
        fmt::format("{}\n--size NAME=NUMBER fixes a size; the sizes of inputs that are "
                    "still unknown: {}",
                    error.what(), open));
  }
}

// Prints the paths and the sizes of the files in a folder.
void list_files(const std::string& folder) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    rows.push_back({entry.path().string(), bytes_text(entry.file_size())});
  }
  std::sort(rows.begin(), rows.end());
  fmt::print("{}", columns(rows, 0));
}

}  // namespace

int convert_program(const ConvertOptions& options) {
  if (options.to.ends_with(".onnx")) {
    throw Failure(
        fmt::format("{}: the output must be a folder (it will contain NAME.onnx and "
                    "weights.safetensors, which other runtimes open)",
                    options.to));
  }
  const OpenedProgram opened(options.path, "cpu", options.strict);
  const std::vector<ProgramFunction>& functions = opened.functions();
  if (!options.name.empty() && functions.size() != 1) {
    throw Failure(fmt::format(
        "--name requires a program with one function, but this program has {}", functions.size()));
  }
  const Sizes sizes = read_sizes(options.sizes);
  std::vector<std::pair<std::string, Trace>> traces;
  Progress progress("tracing", functions.size());
  for (const ProgramFunction& function : functions) {
    const Function code = opened.program().function(function.name);
    const std::string name = name_for(function, options, functions.size());
    for (const ProgramSignature& each : function.signatures) {
      traces.emplace_back(name, trace_function(code, with_sizes(each.inputs, sizes), each.statics));
    }
    progress.step();
  }
  progress.end();
  Program::save(options.to, traces);
  list_files(options.to);
  return kDone;
}

}  // namespace tenon::command
