// `tenon convert`: a model of any operator set, or a program, as a program of today's.

#include <fmt/core.h>

#include <filesystem>

#include "tools/tenon/failure.h"
#include "tools/tenon/program_call.h"
#include "tools/tenon/text.h"

namespace tenon::command {
namespace {

bool can_name_a_file(const std::string& name) {
  return !name.empty() && name[0] != '.' &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
             "0123456789_.-") == std::string::npos;
}

// The name under which a function is saved. That of a graph may be none for a file; that of the
// model's file may do then.
std::string name_for(const ProgramFunction& function, const ConvertOptions& options, size_t n) {
  if (n == 1 && !options.name.empty()) return options.name;
  const std::string stem = std::filesystem::path(options.path).stem().string();
  for (const std::string& name : {function.name, n == 1 ? stem : ""}) {
    if (can_name_a_file(name)) return name;
  }
  throw Failure(
      fmt::format("the function is called '{}', which is no name for a file; give it "
                  "another with --name",
                  function.name));
}

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
        fmt::format("{}: what is written is a folder, in which NAME.onnx and "
                    "weights.safetensors are what other runtimes open; name a folder",
                    options.to));
  }
  const OpenedProgram opened(options.path);
  const std::vector<ProgramFunction>& functions = opened.functions();
  if (!options.name.empty() && functions.size() != 1) {
    throw Failure(
        fmt::format("--name is for a program of one function, and this has {}", functions.size()));
  }
  std::map<std::string, Trace> traces;
  Progress progress("tracing", functions.size());
  for (const ProgramFunction& function : functions) {
    const Function code = opened.program().function(function.name);
    traces.emplace(name_for(function, options, functions.size()), code.trace(function.inputs));
    progress.step();
  }
  progress.end();
  Program::save(options.to, traces);
  list_files(options.to);
  return kDone;
}

}  // namespace tenon::command
