// Shared by the commands about programs: opens a program on a device, and formats signatures, types
// and sizes. program_inputs.h reads the inputs of functions.

#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tenon/tenon.hpp>
#include <vector>

#include "tools/tenon/programs.h"

namespace tenon::command {

// A program, and the context in which it was opened. The context's scope becomes the current one.
class OpenedProgram {
 public:
  OpenedProgram(const std::string& path, const std::string& device, bool strict);

  const Program& program() const { return *program_; }
  const Device& device() const { return device_; }
  const std::vector<ProgramFunction>& functions() const { return functions_; }
  // Finds a function by name. An empty name selects the only function.
  const ProgramFunction& find(const std::string& name) const;
  // Returns the parsed JSON of Program::describe(), for the whole program or for one function.
  const nlohmann::ordered_json& description() const { return description_; }
  const nlohmann::ordered_json& description_of(const ProgramFunction& function) const;
  // Formats a signature, such as "f(x: f32[n,3]) with training=true -> y: f32[n]".
  std::string signature_text(const ProgramFunction& function,
                             const ProgramSignature& signature) const;

 private:
  Context context_;
  Scope scope_;
  ScopeGuard in_scope_;
  Device device_;
  std::optional<Program> program_;
  std::vector<ProgramFunction> functions_;
  nlohmann::ordered_json description_;
};

// Formats a type, such as "f32[n,3]". An unknown rank is "f32[...]", and an unknown dtype
// "unknown".
std::string type_text(const InputSpec& spec);
std::string type_text(DType dtype, std::span<const int64_t> shape);

// Splits "NAME=VALUE". `option` is the name of the option for error messages.
std::pair<std::string, std::string> split_named_value(const std::string& option,
                                                      const std::string& text);

// Values for unknown sizes, keyed by name. read_sizes() parses them from texts "NAME=NUMBER".
using Sizes = std::map<std::string, int64_t>;
// Parses the values "NAME=NUMBER" of the options --size.
Sizes read_sizes(const std::vector<std::string>& given);
// Returns the name of an unknown size. If it has no name in the file, the name is INPUT.AXIS, such
// as x.0.
std::string unknown_size_name(const InputSpec& spec, size_t axis);
// Formats a size: a number, a name, or "?" if it has no name.
std::string size_text(const InputSpec& spec, size_t axis);

}  // namespace tenon::command
