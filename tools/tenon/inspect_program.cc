// `tenon inspect`: shows the functions and variables of a program, and how each of its calls would
// run.

#include <fmt/core.h>
#include <tenon/introspect.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/tenon/failure.h"
#include "tools/tenon/program_call.h"
#include "tools/tenon/text.h"

namespace tenon::command {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

// Parses JSON text of the C ABI and releases the text.
Json parse_json(tenon_string text) { return Json::parse(detail::take_text(text)); }

// ---- unknown sizes

// Returns the inputs with numbers for unknown sizes: the number of the command line if it names the
// size, or else `other`. Adds all of these numbers to `used`.
std::vector<InputSpec> with_sizes(std::vector<InputSpec> inputs, const Sizes& sizes, int64_t other,
                                  Sizes& used) {
  for (InputSpec& spec : inputs) {
    for (size_t axis = 0; axis < spec.shape.size(); ++axis) {
      if (spec.shape[axis] != TENON_SIZE_UNKNOWN) continue;
      const std::string name = unknown_size_name(spec, axis);
      const auto own = sizes.find(name);
      spec.shape[axis] = own == sizes.end() ? other : own->second;
      used[name] = spec.shape[axis];
    }
    spec.size_names.clear();
  }
  return inputs;
}

// ---- how calls would run

// Describes how the calls of a trace would run for inputs of these types.
Json inspect_calls(const Trace& trace, const std::vector<InputSpec>& inputs) {
  std::vector<tenon_type> types(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    types[i].dtype = inputs[i].dtype;
    types[i].rank = static_cast<uint32_t>(inputs[i].shape.size());
    std::copy(inputs[i].shape.begin(), inputs[i].shape.end(), types[i].shape);
  }
  tenon_string text = {};
  tenon::check(
      tenon_introspect_trace(current_scope(), trace.get(), types.data(), types.size(), &text));
  return parse_json(text);
}

// Describes how the calls of a signature would run. Unknown sizes are replaced by numbers. If the
// function rejects them, other numbers are tried.
Json inspect_calls(const Function& code, const ProgramSignature& signature, const Sizes& sizes) {
  std::string problem;  // The error for the first sizes.
  for (const int64_t other : {1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512}) {
    Sizes used;
    const auto inputs = with_sizes(signature.inputs, sizes, other, used);
    std::string last;
    for (const auto& specs : {signature.inputs, inputs}) {
      try {
        Json found = inspect_calls(code.trace(specs, signature.statics), inputs);
        found["sizes"] = used;
        return found;
      } catch (const Error& error) {
        last = error.what();
      }
    }
    if (problem.empty()) problem = last;
    if (used.empty()) break;
  }
  return {{"problem", problem}};
}

// Returns what would run a call, and why, in words.
std::string reason_of(const Json& call) {
  const std::string how = call["runs"], why = call["why"];
  if (how == "kernel") return "a kernel of the device";
  if (how == "view") return "a view, nothing runs";
  if (how == "parts") return "decomposed, because the device " + why;
  if (how == "elsewhere")
    return "not on this device, because the device " + why + ": on the CPU, with copies";
  if (how == "blocks") return "code that the host chooses by what is computed";
  return "the host";
}

// ---- text

// Formats {name: count} as "name count, name count".
std::string counts_text(const Json& counts) {
  std::string text;
  for (const auto& [name, n] : counts.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, n.dump());
  }
  return text.empty() ? "none" : text;
}

// Prints how many calls of each op run on which device, and why.
void print_calls(const Json& found) {
  std::map<std::vector<std::string>, size_t> counts;
  for (const Json& call : found["calls"]) ++counts[{call["op"], call["device"], reason_of(call)}];
  Rows rows;
  for (const auto& [words, n] : counts) {
    rows.push_back({words[0], std::to_string(n), words[1], words[2]});
  }
  fmt::print("  what would run them\n{}", columns(rows, 4));
}

void print_memory(const Json& memory) {
  Rows rows;
  const std::pair<const char*, const char*> parts[] = {
      {"variables", "its variables"},
      {"captures", "other tensors of the file"},
      {"inputs", "inputs"},
      {"outputs", "outputs"},
      {"peak", "at most for what is computed, call by call"}};
  for (const auto& [key, words] : parts) {
    rows.push_back({bytes_text(memory[key].get<uint64_t>()), words});
  }
  fmt::print("  memory\n{}", columns(rows, 4));
}

// Prints a signature, and how its calls would run.
void print_signature(const std::string& text, const Json& described) {
  fmt::print("{}\n", text);
  Rows rows;
  if (described.contains("ops")) rows.push_back({"ops in the file", counts_text(described["ops"])});
  if (described.contains("operator_sets")) {
    rows.push_back({"operator sets", counts_text(described["operator_sets"])});
  }
  const Json& found = described["trace"];
  if (found.contains("problem")) {
    rows.push_back({"not traced", found["problem"]});
    fmt::print("{}\n", columns(rows, 2));
    return;
  }
  if (!found["sizes"].empty()) {
    rows.push_back({"looked at with", counts_text(found["sizes"]) + " (--size NAME=NUMBER)"});
  }
  fmt::print("{}", columns(rows, 2));
  print_calls(found);
  print_memory(found["memory"]);
  fmt::print("\n");
}

// Returns the number of elements of a variable.
uint64_t count_of(const Variable& variable) {
  uint64_t count = 1;
  for (const int64_t size : variable.shape()) count *= static_cast<uint64_t>(size);
  return count;
}

uint64_t bytes_of(const Variable& variable) {
  return count_of(variable) * TENON_DTYPE_SIZE(variable.dtype());
}

void print_variables(std::vector<Variable> variables) {
  constexpr size_t kMaxShown = 20;
  uint64_t count = 0, bytes = 0, trainable = 0;
  for (const Variable& each : variables) {
    count += count_of(each);
    bytes += bytes_of(each);
    trainable += each.is_trainable() ? count_of(each) : 0;
  }
  fmt::print("{} variable{} of {} elements, {} of them trained, {}\n", variables.size(),
             variables.size() == 1 ? "" : "s", count, trainable, bytes_text(bytes));
  const size_t shown = std::min(kMaxShown, variables.size());
  std::stable_sort(variables.begin(), variables.end(),
                   [](const Variable& a, const Variable& b) { return bytes_of(a) > bytes_of(b); });
  Rows rows;
  for (size_t i = 0; i < shown; ++i) {
    const Variable& each = variables[i];
    rows.push_back({std::string(each.name()), type_text(each.dtype(), each.shape()),
                    bytes_text(bytes_of(each)), each.is_trainable() ? "" : "not trained"});
  }
  fmt::print("{}", columns(rows, 2));
  if (shown < variables.size()) {
    fmt::print("  and {} smaller ones, which --json lists\n", variables.size() - shown);
  }
}

// ---- files with unsupported ops

// Formats values as "name: type, name: type".
std::string types_text(const Json& values) {
  std::string text;
  for (const Json& value : values) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", value["name"].get<std::string>(),
                        value["type"].get<std::string>());
  }
  return text;
}

// Describes an ONNX model that cannot be run because of `error`. If it cannot be described, either,
// throws `error`.
int inspect_unknown(const InspectOptions& options, const Error& error) {
  if (error.code() != Code::kUnimplemented || std::filesystem::is_directory(options.path)) {
    throw error;
  }
  std::ifstream file(options.path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  const std::string bytes = content.str();
  tenon_string text = {};
  if (tenon_error* wrong = tenon_introspect_onnx_describe(bytes.data(), bytes.size(), &text)) {
    tenon_error_release(wrong);
    throw error;
  }
  const Json model = parse_json(text);
  if (options.json) {
    fmt::print("{}\n",
               Json({{"path", options.path}, {"problem", error.what()}, {"model", model}}).dump(2));
  } else {
    fmt::print("({}) -> {}\n", types_text(model["inputs"]), types_text(model["outputs"]));
    Rows rows = {{"operator set", model["version"].dump()}};
    for (const Json& unknown : model["unknown"]) {
      std::string nodes;
      for (const Json& node : unknown["nodes"]) {
        nodes += (nodes.empty() ? "" : ", ") + node.get<std::string>();
      }
      rows.push_back({"unknown op", unknown["op"].get<std::string>() + ": " + nodes});
    }
    fmt::print("{}", columns(rows, 2));
  }
  fmt::print(stderr, "tenon: {}\n", error.what());
  return kFailed;
}

// Prints a program that could be opened, and returns the exit status.
int inspect(const InspectOptions& options, const OpenedProgram& opened) {
  if (!options.function.empty()) opened.find(options.function);
  const Sizes sizes = read_sizes(options.sizes);
  Json all = opened.description();
  all["device"] = opened.device().name();
  for (size_t i = 0; i < opened.functions().size(); ++i) {
    const ProgramFunction& function = opened.functions()[i];
    if (!options.function.empty() && function.name != options.function) continue;
    const Function code = opened.program().function(function.name);
    for (size_t k = 0; k < function.signatures.size(); ++k) {
      Json& described = all["functions"][i]["signatures"][k];
      described["trace"] = inspect_calls(code, function.signatures[k], sizes);
      if (options.json) continue;
      print_signature(opened.signature_text(function, function.signatures[k]), described);
    }
  }
  if (options.json) {
    fmt::print("{}\n", all.dump(2));
  } else {
    print_variables(opened.program().variables());
  }
  return kDone;
}

}  // namespace

int inspect_program(const InspectOptions& options) {
  std::optional<OpenedProgram> opened;
  try {
    opened.emplace(options.path, options.device, options.strict);
  } catch (const Error& error) {
    return inspect_unknown(options, error);
  }
  return inspect(options, *opened);
}

}  // namespace tenon::command
